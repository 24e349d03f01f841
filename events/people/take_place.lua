-- Lets a new match take a place of a bot, unless all are taken.
--
-- KEYS  1 places of the bot: matches by the instant at which they took one
-- ARGV  1 match  2 how many places there are  3 instant  4 milliseconds after which a place is free again
--       5 how many of the places the read models have  then these  then all matches of the bot in the read models
-- Returns 2, 1 when the match had its place before, or 0 when other matches have all places.

local last_projected = 5 + tonumber(ARGV[5])
for number = 6, last_projected do redis.call('ZREM', KEYS[1], ARGV[number]) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[3] - ARGV[4])
local others = {[ARGV[1]] = true}
local taken = 0
local function count(match)
  if not others[match] then
    others[match] = true
    taken = taken + 1
  end
end
for number = last_projected + 1, #ARGV do count(ARGV[number]) end
for _, match in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do count(match) end
if taken >= tonumber(ARGV[2]) then return 0 end
return 1 + redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
