-- Reads a key of any type in one step: its type, the milliseconds until it expires (-1: it stays), its content.
--
-- KEYS  1 the key

local kind = redis.call('TYPE', KEYS[1])['ok']
local how = {
  string = {'GET', KEYS[1]},
  hash = {'HGETALL', KEYS[1]},
  list = {'LRANGE', KEYS[1], 0, -1},
  set = {'SMEMBERS', KEYS[1]},
  zset = {'ZRANGE', KEYS[1], 0, -1, 'WITHSCORES'},
  stream = {'XRANGE', KEYS[1], '-', '+'},
}
if not how[kind] then return false end
return {kind, redis.call('PTTL', KEYS[1]), redis.call(unpack(how[kind]))}
