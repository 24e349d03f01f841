-- Enrols a person under a name, or changes nothing. Name and person appear together or not at all.
--
-- KEYS  1 name  2 person  3 skeleton of the name
-- ARGV  1 id  2 name  3 kind  4 instant  5 hash of the password
-- Returns 1, or 0 when the name, or one that looks like it, is taken.
--
-- redis-py repeats a command whose reply was lost: a name that already belongs to this very id is the first attempt's
-- work, not somebody else's. Guests have names that cannot be chosen; theirs need not look different.

local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] then return 0 end
if ARGV[3] ~= 'guest' then
  local twin = redis.call('GET', KEYS[3])
  if twin and twin ~= ARGV[1] then return 0 end
  redis.call('SET', KEYS[3], ARGV[1])
end
redis.call('SET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[2], 'name', ARGV[2], 'kind', ARGV[3], 'created_at', ARGV[4], 'password', ARGV[5])
return 1
