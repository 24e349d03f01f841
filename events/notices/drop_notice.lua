-- Takes a notice out of the digest of its player, and records why.
--
-- KEYS  1 notices that wait for a digest  2 notice
-- ARGV  1 id of the notice  2 field of the delivery  3 JSON of the delivery

redis.call('ZREM', KEYS[1], ARGV[1])
if redis.call('EXISTS', KEYS[2]) == 1 then redis.call('HSET', KEYS[2], ARGV[2], ARGV[3]) end
