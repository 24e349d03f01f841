-- Records what became of a dispatch that was taken, in the outbox and in the ledger.
--
-- KEYS  1 due  2 dispatches of the player  3 finished of the player  4 notices that wait for a digest  5 outcomes
-- ARGV  1 player  2 id  3 attempts  4 instant at which it is due again, empty when it is finished  5 now
--       6 milliseconds for which it is recognised  7 what the keys of the player's notices begin with
--       8 field of the delivery  9 JSON of the delivery  10 1 for a digest  11 1 if it was not even tried
--       then the notices that it is about
-- Returns 1, or 0 when it was finished or erased meanwhile, or is to be due again but another worker has taken it.
--
-- Crash-safe: one step. A repeated call finds the dispatch finished, or records the same once more.

local id, member = ARGV[2], ARGV[1] .. ' ' .. ARGV[2]
local stored = redis.call('HGET', KEYS[2], id)
if not stored then return 0 end
if ARGV[4] ~= '' then
  if redis.call('HGET', KEYS[2], id .. '#') ~= ARGV[3] then return 0 end
  redis.call('HDEL', KEYS[2], id .. '@')
  if ARGV[11] == '1' then redis.call('HINCRBY', KEYS[2], id .. '#', -1) end
  redis.call('ZADD', KEYS[1], ARGV[4], member)
else
  redis.call('HDEL', KEYS[2], id, id .. '#', id .. '@')
  redis.call('ZREM', KEYS[1], member)
  redis.call('ZADD', KEYS[3], ARGV[5], id)
  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[5] - ARGV[6])
  redis.call('PEXPIRE', KEYS[3], ARGV[6])
  local delivery = cjson.decode(ARGV[9])
  redis.call('HINCRBY', KEYS[5], delivery.channel .. ' ' .. delivery.state, 1)
end
for place = 12, #ARGV do
  local notice = ARGV[7] .. ARGV[place]
  if redis.call('EXISTS', notice) == 1 then redis.call('HSET', notice, ARGV[8], ARGV[9]) end
  if ARGV[4] == '' and ARGV[10] == '1' then redis.call('ZREM', KEYS[4], ARGV[place]) end
end
if ARGV[4] == '' and ARGV[10] == '1' then
  -- What was added while the digest was being sent goes with another one, now.
  local left = redis.call('ZRANGEBYSCORE', KEYS[4], '-inf', ARGV[5], 'LIMIT', 0, 1)[1]
  if left then
    redis.call('HSET', KEYS[2], id .. ':' .. left, stored)
    redis.call('ZADD', KEYS[1], ARGV[5], member .. ':' .. left)
  end
end
return 1
