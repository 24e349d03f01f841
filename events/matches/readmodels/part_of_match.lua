-- Returns the number and the content of the part of a player's day in which a match is, if it is in the day: of all
-- parts (``standings.part_field``), the last that begins with a match that ended then or earlier.
--
-- KEYS  1 the day
-- ARGV  1 player  2 match  3 when it ended

local ended = tonumber(ARGV[3])

local function read(number)
  return redis.call('HGET', KEYS[1], number == 0 and ARGV[1] or ARGV[1] .. ' ' .. string.format('%d', number))
end

local function begin(number)
  local part = read(number)
  return part and tonumber(string.match(part, '^%d+')) or math.huge
end

local low = 0
local high = tonumber(redis.call('HGET', KEYS[1], ARGV[1] .. ' parts') or 1) - 1
while low < high do
  local middle = math.ceil((low + high) / 2)
  if begin(middle) <= ended then low = middle else high = middle - 1 end
end
local part = read(low)
-- Matches that ended at the same instant can be in several parts.
while low > 0 and part and not string.find(part, '"' .. ARGV[2] .. '"', 1, true) and begin(low) == ended do
  low = low - 1
  part = read(low)
end
return part and {low, part}
