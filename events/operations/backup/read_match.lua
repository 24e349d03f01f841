-- Reads a live match in one step, so that its parts agree: head, events, conditional moves, deadline.
--
-- KEYS  1 events  2 head and requests  3 conditional moves  4 deadlines
-- ARGV  1 match

return {
  redis.call('HGETALL', KEYS[2]),
  redis.call('XRANGE', KEYS[1], '-', '+'),
  redis.call('HGETALL', KEYS[3]),
  redis.call('ZSCORE', KEYS[4], ARGV[1]) or '',
}
