-- Erases all that is to be sent to a player.
--
-- KEYS  1 due  2 dispatches of the player  3 finished of the player  4 notices that wait for a digest
-- ARGV  1 player

for _, id in ipairs(redis.call('HKEYS', KEYS[2])) do redis.call('ZREM', KEYS[1], ARGV[1] .. ' ' .. id) end
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
