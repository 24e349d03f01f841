-- Replaces the live copy of a match by its entry in the catalogue, or changes nothing.
--
-- KEYS  1 events  2 head and requests  3 snapshot  4 deadlines  5 part of the catalogue  6 round of archiving
--       7 generations of read models  8 live streams  9 archived streams
--       then the match's summary in each generation, then the lists that it is in
-- ARGV  1 version  2 digest  3 match  4 field of the catalogue  5 value of the catalogue  6 round  7 generations
--       8 summary  9 number of generations, then the match's member in each list
--
-- Crash-safe: the server runs a script alone and logs its effects as one transaction: a match is live or archived,
-- never both or neither.

local known = redis.call('HMGET', KEYS[2], 'v', 'd')
if redis.call('GET', KEYS[6]) ~= ARGV[6] then
  return 'another round'
end
if known[1] ~= ARGV[1] or known[2] ~= ARGV[2] or redis.call('ZSCORE', KEYS[4], ARGV[3]) then
  return 'changed'
end
if (redis.call('GET', KEYS[7]) or '0') ~= ARGV[7] then
  return 'changed'
end
local lists = 10 + ARGV[9]
for summary = 10, lists - 1 do
  if redis.call('GET', KEYS[summary]) ~= ARGV[8] then
    return 'changed'
  end
end
redis.call('HSET', KEYS[5], ARGV[4], ARGV[5])
redis.call('UNLINK', KEYS[1], KEYS[2], KEYS[3])
-- What is archived stands near the beginning of the list: only live matches are before it.
redis.call('LREM', KEYS[8], 1, ARGV[3])
redis.call('RPUSH', KEYS[9], ARGV[3])
for summary = 10, lists - 1 do
  redis.call('DEL', KEYS[summary])
end
for list = lists, #KEYS do
  redis.call('ZREM', KEYS[list], ARGV[10 + list - lists])
end
return 'dropped'
