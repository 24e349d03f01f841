-- Reads what the relays have reported, with the present instant of the server that has it.
--
-- KEYS  1 reports
-- Returns the instant in milliseconds, and names and reports in turn.

local now = redis.call('TIME')
return {now[1] * 1000 + math.floor(now[2] / 1000), redis.call('HGETALL', KEYS[1])}
