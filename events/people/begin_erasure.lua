-- Notes that a person is being erased, who can then get no other name and sign up as nobody.
--
-- KEYS  1 person
-- ARGV  1 name
-- Returns 1, or 0 when there is no such person, or none of this name any more.

if redis.call('HGET', KEYS[1], 'name') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'erasing', 1)
return 1
