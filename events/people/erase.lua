-- Forgets a person: sessions, tokens, name, look, password, suspension and all else, at once.
--
-- KEYS  1 sessions of the person  2 tokens of the person  3 name  4 skeleton of the name  5 bots  then all that is
--       deleted
-- ARGV  1 id
--
-- A name goes with the person whose it is: asked for twice at the same time, it may be somebody else's already.

for _, key in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do redis.call('DEL', key) end
for _, packed in ipairs(redis.call('HVALS', KEYS[2])) do redis.call('DEL', cjson.decode(packed)[3]) end
for place = 3, 4 do
  if redis.call('GET', KEYS[place]) == ARGV[1] then redis.call('DEL', KEYS[place]) end
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('ZREM', KEYS[5], ARGV[1])
for place = 6, #KEYS do redis.call('DEL', KEYS[place]) end
