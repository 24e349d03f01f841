-- Forgets results that a rebuild has taken over, unless they have changed since.
--
-- KEYS  1 late results
-- ARGV  1 match  2 its result as it was taken over  3 another match ...

for place = 1, #ARGV, 2 do
    if redis.call('HGET', KEYS[1], ARGV[place]) == ARGV[place + 1] then redis.call('HDEL', KEYS[1], ARGV[place]) end
end
