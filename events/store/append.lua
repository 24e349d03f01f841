-- Appends events to one stream, or changes nothing. All keys share one hash tag, the shard's.
--
-- KEYS  1 events  2 head and requests  3 feed  4 feed sequence  5 streams  6 deadlines
-- ARGV  1 expected version  2 expected digest  3 field of the request  4 digest of its content  5 stream name  6 deadline or ""
--       7 revision of the conditional moves that the events were decided with, or ""
--       8 instant by the caller's clock  9 instant at which it decided  10 how many milliseconds the first may differ
--         from the server's TIME and the second be ahead of it; all three "": the caller's clock is virtual
--       11 origin of the events (events/runtime/origin.py) or "": beside their pointers, and no part of them
--       then for each event: its packed bytes, its digest
--
-- Crash-safe: the server runs a script alone and logs its effects as one transaction, of which a restart loads all or
-- nothing. A script is not rolled back on an error, so every check comes before the first write; the server itself
-- refuses the first write when it is out of memory or read-only, and none after it. A client that never saw the reply
-- repeats the request with the same key and gets the first reply.

local known = redis.call('HMGET', KEYS[2], 'v', 'd', ARGV[3], 'o')
local version = known[1] or '0'
local digest = known[2] or string.rep('\0', 32)

if known[3] then
  local first, last, content = string.match(known[3], '^(%d+):(%d+)(.*)$')
  local found = redis.call('XRANGE', KEYS[1], first .. '-0', last .. '-0')
  local written = string.sub(content, #ARGV[4] + 1)
  local there = found[#found] and string.sub(found[#found][2][4], 1, #written)
  -- What it wrote may have been lost, with another event in its place: then the request counts as new.
  if tonumber(last) <= tonumber(version) and (not there or there == written) then
    if string.sub(content, 1, #ARGV[4]) ~= ARGV[4] then
      return {'mismatch'}
    end
    return {'repeated', first, found}
  end
end
if version ~= ARGV[1] or digest ~= ARGV[2] then
  return {'stale', version, digest}
end
if ARGV[7] ~= '' and (known[4] or '0') ~= ARGV[7] then
  return {'conditional-moves'}
end
if redis.call('XLEN', KEYS[1]) ~= tonumber(version) then
  return {'damaged', version}
end

-- Every shard has its number of events from the first start on, also while that is 0.
if redis.call('EXISTS', KEYS[4]) == 0 then
  return {'emptied'}
end

if ARGV[8] ~= '' then
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  if math.abs(ARGV[8] - now) > tonumber(ARGV[10]) or ARGV[9] - now > tonumber(ARGV[10]) then
    return {'clock', string.format('%.0f', now)}
  end
end

local events = (#ARGV - 11) / 2
local sequence = redis.call('INCRBY', KEYS[4], events) - events
for number = 1, events do
  local place = version + number
  local pointer = {'m', ARGV[5], 'v', place}
  if ARGV[11] ~= '' then pointer = {'m', ARGV[5], 'v', place, 'o', ARGV[11]} end
  redis.call('XADD', KEYS[3], string.format('%d-0', sequence + number), unpack(pointer))
  redis.call('XADD', KEYS[1], string.format('%d-0', place), 'b', ARGV[10 + 2 * number], 'h', ARGV[11 + 2 * number])
end
local last = ARGV[#ARGV]
local written = string.format('%d:%d', version + 1, version + events) .. ARGV[4] .. string.sub(last, 1, 8)
redis.call('HSET', KEYS[2], 'v', version + events, 'd', last, ARGV[3], written)
if version == '0' then
  redis.call('RPUSH', KEYS[5], ARGV[5])
end
if ARGV[6] ~= '' then
  redis.call('ZADD', KEYS[6], ARGV[6], ARGV[5])
else
  redis.call('ZREM', KEYS[6], ARGV[5])
end
-- A hint for readers (events/store/wake_ups.py), so a failure is none of the append. Shard channels and this number of a
-- version came with 7.0.
redis.pcall(redis.REDIS_VERSION_NUM and 'SPUBLISH' or 'PUBLISH', KEYS[3], sequence + events)
return {'appended'}
