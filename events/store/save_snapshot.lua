-- Keeps a snapshot unless a newer one is there. It is a cache: it goes away when the match rests.
--
-- KEYS  1 snapshot  2 head and requests
-- ARGV  1 version  2 snapshot  3 milliseconds to keep it
--
-- A snapshot beyond the end of the stream is of a history that was lost, and gives way to any other.

local kept = tonumber(redis.call('HGET', KEYS[1], 'v') or '0')
if kept <= tonumber(ARGV[1]) or kept > tonumber(redis.call('HGET', KEYS[2], 'v') or '0') then
  redis.call('HSET', KEYS[1], 'v', ARGV[1], 's', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
