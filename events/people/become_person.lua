-- Makes a guest a person with a name and a password, everywhere at once, or changes nothing.
--
-- KEYS  1 person  2 old name  3 new name  4 new skeleton  5 sessions  6 tokens  7 guests
-- ARGV  1 id  2 new name  3 packed person with the new name  4 hash of the password
-- Returns 'done', 'taken' when the name, or one that looks like it, is taken, or 'no guest' when there is no such
-- guest: erased, being erased, or a person already.
--
-- redis-py repeats a command whose reply was lost: a person with this very hash is its first attempt's work.

local kind, hash, erasing = unpack(redis.call('HMGET', KEYS[1], 'kind', 'password', 'erasing'))
if kind == 'person' and hash == ARGV[4] then return 'done' end
if kind ~= 'guest' or erasing then return 'no guest' end
for _, key in ipairs({KEYS[3], KEYS[4]}) do
  local owner = redis.call('GET', key)
  if owner and owner ~= ARGV[1] then return 'taken' end
end
if redis.call('GET', KEYS[2]) == ARGV[1] then redis.call('DEL', KEYS[2]) end
redis.call('SET', KEYS[3], ARGV[1])
redis.call('SET', KEYS[4], ARGV[1])
redis.call('HSET', KEYS[1], 'name', ARGV[2], 'kind', 'person', 'password', ARGV[4])
redis.call('ZREM', KEYS[7], ARGV[1])
for _, key in ipairs(redis.call('ZRANGE', KEYS[5], 0, -1)) do
  if redis.call('EXISTS', key) == 1 then redis.call('SET', key, string.sub(key, -64) .. ARGV[3], 'KEEPTTL') end
end
for _, packed in ipairs(redis.call('HVALS', KEYS[6])) do
  local key = cjson.decode(packed)[3]
  redis.call('SET', key, string.sub(key, -64) .. ARGV[3])
end
return 'done'
