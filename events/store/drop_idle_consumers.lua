-- Drops the consumers of a group that have been idle for long and hold no entries, except one.
--
-- KEYS  1 feed
-- ARGV  1 group  2 consumer that stays  3 milliseconds
-- Returns how many were dropped.

local dropped = 0
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local facts = {}
  for place = 1, #consumer, 2 do facts[consumer[place]] = consumer[place + 1] end
  if facts.name ~= ARGV[2] and facts.pending == 0 and facts.idle >= tonumber(ARGV[3]) then
    redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], facts.name)
    dropped = dropped + 1
  end
end
return dropped
