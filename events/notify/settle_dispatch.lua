-- Records what became of a dispatch that was claimed, in the outbox and in the ledger.
--
-- KEYS  1 base of the outbox (work_list.lua)  2 finished of the player  3 outcomes
-- ARGV  1 player  2 id  3 token of the claim  4 instant at which it is due again, empty when it is finished
--       5 attempts that count  6 lane  7 now  8 milliseconds for which it is recognised  9 what the keys of the player's
--       notices begin with  10 field of the delivery  11 JSON of the delivery, then the notices that it is about
-- Returns 1, or 0 when the claim is lost.
--
-- Crash-safe: one step. A repeated call finds the claim gone.

local player, id, due = ARGV[1], ARGV[2], ARGV[4]
if due ~= '' then
  if work.postpone(player .. ' ' .. id, ARGV[3], due, ARGV[5], ARGV[6]) == 0 then return 0 end
else
  if work.finish(player .. ' ' .. id, ARGV[3]) == 0 then return 0 end
  redis.call('ZADD', KEYS[2], ARGV[7], id)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', ARGV[7] - ARGV[8])
  redis.call('PEXPIRE', KEYS[2], ARGV[8])
  local delivery = cjson.decode(ARGV[11])
  redis.call('HINCRBY', KEYS[3], delivery.channel .. ' ' .. delivery.state, 1)
end
for place = 12, #ARGV do
  local notice = ARGV[9] .. ARGV[place]
  if redis.call('EXISTS', notice) == 1 then redis.call('HSET', notice, ARGV[10], ARGV[11]) end
end
return 1
