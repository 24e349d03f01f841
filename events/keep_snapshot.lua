-- Keeps a snapshot unless a newer one is there. It is a cache: it goes away when the match rests.
--
-- KEYS  1 snapshot
-- ARGV  1 version  2 snapshot  3 milliseconds to keep it

local kept = redis.call('HGET', KEYS[1], 'v')
if not kept or tonumber(kept) <= tonumber(ARGV[1]) then
  redis.call('HSET', KEYS[1], 'v', ARGV[1], 's', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
