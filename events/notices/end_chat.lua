-- Records that people were told of messages of a chat: it is looked at again only if it was marked meanwhile.
--
-- KEYS  1 chats  2 marks
-- ARGV  1 match  2 after which message  3 up to which  4 marks  5 instant at which it would be looked at again
--
-- Crash-safe: a second call finds other numbers, and changes nothing.

local after, up_to, marks = ARGV[1] .. ':after', ARGV[1] .. ':until', ARGV[1] .. ':marks'
if redis.call('HGET', KEYS[2], after) ~= ARGV[2] or redis.call('HGET', KEYS[2], up_to) ~= ARGV[3] then return end
redis.call('HDEL', KEYS[2], up_to)
if redis.call('HGET', KEYS[2], marks) == ARGV[4] then
  redis.call('HDEL', KEYS[2], after, marks)
  redis.call('ZREM', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[2], after, ARGV[3])
  redis.call('ZADD', KEYS[1], ARGV[5], ARGV[1])
end
