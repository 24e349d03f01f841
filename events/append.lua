-- Appends events to one stream, or changes nothing. All keys share one hash tag, the shard's.
--
-- KEYS  1 events  2 head  3 requests  4 feed  5 feed sequence  6 streams  7 deadlines
-- ARGV  1 expected version  2 expected digest  3 request key  4 fingerprint  5 stream name  6 deadline or ""
--       then for each event: its packed bytes, its digest
--
-- Killed at any moment it is safe: the server runs a script alone and logs its effects as one transaction, of which a
-- restart loads all or nothing. A script is not rolled back on an error, so every check comes before the first write;
-- the server itself refuses the first write when it is out of memory or read-only, and none after it. A client that
-- never saw the reply asks again with the same request key and gets the answer of the first time.

local remembered = redis.call('HGET', KEYS[3], ARGV[3])
if remembered then
  local first, last, fingerprint = string.match(remembered, '^(%d+):(%d+):(.*)$')
  if fingerprint ~= ARGV[4] then
    return {'mismatch'}
  end
  return {'repeated', redis.call('XRANGE', KEYS[1], first .. '-0', last .. '-0')}
end

local head = redis.call('HMGET', KEYS[2], 'v', 'd')
local version = head[1] or '0'
if version ~= ARGV[1] or (head[2] or string.rep('\0', 32)) ~= ARGV[2] then
  return {'stale', version}
end
if redis.call('XLEN', KEYS[1]) ~= tonumber(version) then
  return {'damaged', version}
end

local events = (#ARGV - 6) / 2
local last = version + events
local sequence = redis.call('INCRBY', KEYS[5], events) - events
for number = 1, events do
  local id = string.format('%d-0', version + number)
  redis.call('XADD', KEYS[4], string.format('%d-0', sequence + number), 'm', ARGV[5], 'v', version + number)
  redis.call('XADD', KEYS[1], id, 'b', ARGV[5 + 2 * number], 'h', ARGV[6 + 2 * number])
end
redis.call('HSET', KEYS[2], 'v', last, 'd', ARGV[#ARGV])
redis.call('HSET', KEYS[3], ARGV[3], string.format('%d:%d:%s', version + 1, last, ARGV[4]))
if version == '0' then
  redis.call('RPUSH', KEYS[6], ARGV[5])
end
if ARGV[6] == '' then
  redis.call('ZREM', KEYS[7], ARGV[5])
else
  redis.call('ZADD', KEYS[7], ARGV[6], ARGV[5])
end
return {'appended'}
