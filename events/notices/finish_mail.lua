-- Records what became of a mail and forgets its content; of a person erased meanwhile nothing is written.
--
-- KEYS  1 mails  2 contents  3 due  4 attempts
-- ARGV  1 digest  2 JSON of the mail  3 member of 3

if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 1 then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[3])
redis.call('HDEL', KEYS[4], ARGV[3])
