-- Caches a snapshot unless a newer one is cached. It expires when the match is not played.
--
-- KEYS  1 snapshot  2 head and requests
-- ARGV  1 version  2 snapshot  3 milliseconds until it expires  4 the same if the stream is not live
--
-- A snapshot beyond the end of the stream belongs to a history that was lost: any other replaces it.

local current = tonumber(redis.call('HGET', KEYS[2], 'v') or '0')
local cached = tonumber(redis.call('HGET', KEYS[1], 'v') or '0')
if cached <= tonumber(ARGV[1]) or cached > current then
  redis.call('HSET', KEYS[1], 'v', ARGV[1], 's', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], current > 0 and ARGV[3] or ARGV[4])
end
