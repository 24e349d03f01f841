-- Acknowledges feed entries for a consumer group, if they are still the events that the consumer was given.
--
-- KEYS  1 feed
-- ARGV  1 group, then for each entry: its id, match, version
--
-- After a failover that lost the end of the feed an id may stand for another event, which nobody may have handled. One
-- that was trimmed is no other.

for place = 2, #ARGV, 3 do
  local found = redis.call('XRANGE', KEYS[1], ARGV[place], ARGV[place])[1]
  if not found or (found[2][2] == ARGV[place + 1] and found[2][4] == ARGV[place + 2]) then
    redis.call('XACK', KEYS[1], ARGV[1], ARGV[place])
  end
end
