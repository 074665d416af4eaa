-- Failure detection on the temperature of one machine (../machine): three readings in a row outside the band within 20 minutes raise an
-- alarm; the first reading inside it again is the all clear; half an hour without a reading is "no data", told by a timer.

CREATE STREAM readings (
  ts timestamp,
  temperature double precision,
  WATERMARK FOR ts AS ts - INTERVAL '5 minutes'
);

CREATE PROCESSOR failures RETURNS TABLE (at timestamp, what text, temperature double precision) LANGUAGE starlark AS $$
LOW, HIGH = 60.0, 105.0
RUN, WITHIN, SILENCE = 3, 20 * 60 * 1000, 30 * 60 * 1000

def init(self, handle):
    self.handle = handle
    # the times of the readings outside the band, in a row; whether the alarm is on; the last reading
    self.outside = handle.getListState("outside", "ms bigint")
    self.state = handle.getValueState("state", "alarm boolean, last bigint")

def handleInputRows(self, key, rows, timerValues):
    out = []
    alarm, last = self.state.get() if self.state.exists() else (False, None)
    outside = [x[0] for x in self.outside.get()]
    if last != None:
        self.handle.deleteTimer(last + SILENCE)
    for r in rows:
        ms = millis(r.ts)
        if last != None and ms - last > SILENCE:
            out.append((timestamp(last + SILENCE), "no data", None))
        last = ms
        if LOW <= r.temperature and r.temperature <= HIGH:
            outside = []
            if alarm:
                alarm = False
                out.append((r.ts, "all clear", r.temperature))
            continue
        outside = [x for x in outside if ms - x <= WITHIN] + [ms]
        if len(outside) >= RUN and not alarm:
            alarm = True
            out.append((r.ts, "alarm", r.temperature))
    self.state.update((alarm, last))
    if outside:
        self.outside.put([(x,) for x in outside])
    else:
        self.outside.clear()
    self.handle.registerTimer(last + SILENCE)
    return out

def handleExpiredTimer(self, key, timerValues, expiredTimerInfo):
    alarm, _ = self.state.get()
    self.state.update((alarm, None))
    return [(timestamp(expiredTimerInfo.getExpiryTimeInMs()), "no data", None)]
$$;

CREATE MATERIALIZED VIEW failure_events WITH (output_mode = 'append') AS
SELECT * FROM transform_with_state(TABLE (SELECT 'machine' AS machine, * FROM readings) PARTITION BY machine,
    processor => 'failures', time_mode => 'event_time');

\copy readings FROM '../machine/machine_temperature.csv' WITH (FORMAT csv, HEADER true, batch_rows 500)
