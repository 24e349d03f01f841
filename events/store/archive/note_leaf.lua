-- Replaces the entry of an archived match in the catalogue by one that also has its last leaf, or changes nothing.
--
-- KEYS  1 part of the catalogue
-- ARGV  1 field of the catalogue  2 its value  3 the new value

if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
