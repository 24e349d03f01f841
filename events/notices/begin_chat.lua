-- Fixes which messages of a marked chat are told of next, the same for all who look, until that is done.
--
-- KEYS  1 marks
-- ARGV  1 match  2 messages in the chat
-- Returns nothing when the chat is not marked, or after which message, up to which, and the marks.

local after = redis.call('HGET', KEYS[1], ARGV[1] .. ':after')
if not after then return false end
redis.call('HSETNX', KEYS[1], ARGV[1] .. ':until', ARGV[2])
return {after, redis.call('HGET', KEYS[1], ARGV[1] .. ':until'), redis.call('HGET', KEYS[1], ARGV[1] .. ':marks')}
