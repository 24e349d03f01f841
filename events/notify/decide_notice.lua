-- Writes a notice into the ledger of its player, and into the outbox what is to be sent, unless it was decided before.
--
-- KEYS  1 base of the outbox (work_list.lua); of the player: 2 decided  3 ledger  4 dropped
-- ARGV  1 player  2 id  3 JSON of the notice  4 its place in the ledger: id and match  5 now
--       6 what the keys of the player's notices begin with  7 milliseconds that the ledger reaches back
--       8 most notices  9 milliseconds for which a notice is recognised  10 number of deliveries
--       then for each delivery: its field, its JSON, and either empty, or for what is to be sent
--       id, JSON, instant at which it is due, lane
-- Returns 1, or 0 when the notice was decided before.
--
-- Crash-safe: one step, so that nothing is in the ledger that is not in the outbox, and nothing is sent twice.

local now = tonumber(ARGV[5])
local notice = ARGV[6] .. ARGV[2]
-- A turn may last longer than its notice is recognised: then the ledger still has it.
if redis.call('EXISTS', notice) == 1 then return 0 end
if redis.call('ZADD', KEYS[2], 'NX', now, ARGV[2]) == 0 then return 0 end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[9])
redis.call('PEXPIRE', KEYS[2], ARGV[9])

redis.call('HSET', notice, 'notice', ARGV[3])
redis.call('PEXPIRE', notice, ARGV[7])
redis.call('ZADD', KEYS[3], now, ARGV[4])
redis.call('PEXPIRE', KEYS[3], ARGV[7])
local old = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now - ARGV[7])
local surplus = redis.call('ZCARD', KEYS[3]) - #old - ARGV[8]
if surplus > 0 then
  for _, place in ipairs(redis.call('ZRANGE', KEYS[3], #old, #old + surplus - 1)) do old[#old + 1] = place end
end
for _, place in ipairs(old) do
  redis.call('DEL', ARGV[6] .. string.match(place, '^[^:]+'))
  redis.call('ZREM', KEYS[3], place)
end
if #old > 0 then
  redis.call('INCRBY', KEYS[4], #old)
  redis.call('PEXPIRE', KEYS[4], ARGV[7])
end

local place = 11
for _ = 1, tonumber(ARGV[10]) do
  redis.call('HSET', notice, ARGV[place], ARGV[place + 1])
  local id = ARGV[place + 2]
  if id == '' then
    place = place + 3
  else
    work.add(ARGV[1] .. ' ' .. id, ARGV[place + 5], ARGV[1], 1, ARGV[place + 4], ARGV[place + 3], '')
    place = place + 6
  end
end
return 1
