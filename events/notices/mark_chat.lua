-- Marks a chat in which a message is about to be stored, to be looked at a little later.
--
-- KEYS  1 chats  2 marks
-- ARGV  1 match  2 messages in the chat  3 instant at which it is looked at

redis.call('ZADD', KEYS[1], 'NX', ARGV[3], ARGV[1])
redis.call('HSETNX', KEYS[2], ARGV[1] .. ':after', ARGV[2])
redis.call('HINCRBY', KEYS[2], ARGV[1] .. ':marks', 1)
