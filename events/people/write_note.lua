-- Writes what a person keeps about a match, unless it would exceed the bytes that the person may keep in all.
--
-- KEYS  1 bytes in use  2 notes  3 explorations  4 sizes of conditional moves  5 published explorations
-- ARGV  1 number of the key that is written  2 match  3 text or size  4 size in bytes  5 most bytes
-- Returns -1, or the bytes in use when it was refused. What makes them fewer is never refused.

local sum = tonumber(redis.call('GET', KEYS[1]) or '-1')
if sum < 0 then
  sum = 0
  for _, place in ipairs({2, 3, 5}) do
    for _, text in ipairs(redis.call('HVALS', KEYS[place])) do sum = sum + #text end
  end
  for _, size in ipairs(redis.call('HVALS', KEYS[4])) do sum = sum + tonumber(size) end
end
local kind, match, text, size, most = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
local key = KEYS[kind]
local before = redis.call('HSTRLEN', key, match)
if kind == 4 then before = tonumber(redis.call('HGET', key, match) or '0') end
local after = sum - before + size
if size > before and after > most then return sum end
if size == 0 then redis.call('HDEL', key, match) else redis.call('HSET', key, match, text) end
redis.call('SET', KEYS[1], after)
return -1
