-- Lets a match wait in a lane, unless it waits there already.
--
-- KEYS  1 matches by charge  2 people by charge  3 present charge  4 origins of the matches
-- ARGV  1 match  2 who created it  3 what its answer costs  4 what has made it wait, or ""

if redis.call('ZSCORE', KEYS[1], ARGV[1]) then return end
local present = tonumber(redis.call('GET', KEYS[3]) or '0')
local last = tonumber(redis.call('ZSCORE', KEYS[2], ARGV[2]) or '0')
local charge = math.max(present, last) + ARGV[3]
redis.call('ZADD', KEYS[2], charge, ARGV[2])
redis.call('ZADD', KEYS[1], charge, ARGV[1])
if ARGV[4] ~= '' then redis.call('HSET', KEYS[4], ARGV[1], ARGV[4]) end
