-- Reads the generations of a shard, summaries, and the heads of matches, at one instant and in one round trip.
--
-- KEYS  1 generations, then the summaries, then the heads
-- ARGV  1 the number of summaries
-- Returns the value of each key; of a head, version and digest.

local found = redis.call('MGET', unpack(KEYS, 1, 1 + ARGV[1]))
for place = 2 + ARGV[1], #KEYS do
  found[place] = redis.call('HMGET', KEYS[place], 'v', 'd')
end
return found
