-- Ends all sessions of a person.
--
-- KEYS  1 sessions of the person

for _, key in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('DEL', key) end
redis.call('DEL', KEYS[1])
