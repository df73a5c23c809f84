import { replace, replaceIn } from '../shared/natives.ts'

// A virtual clock stands still during a task, so a script that waits for it in a loop would never end (ADR 34). After many reads of the same time, each read
// adds a little. What has been added stays, so that time never goes back and no timer is early.

/** Reads of the same time after which the clock may stand still, and after as many more it does. */
const READS = 10_000
/** Reads that add a tenth of a millisecond, the resolution of the browser's clock. */
const READS_PER_TENTH = 5

const { apply, construct } = Reflect

/** How to add a duration to the result of each function of Temporal. A day is too long for a loop. */
const TEMPORAL = { instant: 'Instant', zonedDateTimeISO: 'ZonedDateTime', plainDateTimeISO: 'PlainDateTime', plainTimeISO: 'PlainTime' }

/** Replaces all functions from which a script learns the time within a task. */
export function moveClock(): void {
  const own = performance
  const readPrecise = Performance.prototype.now
  const precise = (): number => apply(readPrecise, own, [])
  let reads = 0
  let added = 0
  let ahead = 0
  let suspected = 0
  const addRead = (): void => {
    if (reads === READS) suspected = precise()
    // A fast machine may read a clock of milliseconds that often.
    else if (reads === 2 * READS && precise() !== suspected) reads = 0
    else if (reads > 2 * READS && ++added % READS_PER_TENTH === 0) ahead = added / READS_PER_TENTH / 10
  }
  /** Notes the reads of one kind of time. Returns by how much the page's time is ahead of the browser's, in milliseconds. */
  const noteReads = () => {
    let before: number | undefined
    return (time: number): number => {
      if (time !== before) {
        before = time
        reads = 0
      } else if (++reads >= READS) addRead()
      return ahead
    }
  }
  const notePrecise = noteReads()
  const readAhead = (): number => notePrecise(precise())
  const now = replaceDate(noteReads())
  replaceFormats(now)
  replaceTemporal(now)
  replacePerformance(notePrecise, readAhead)
  replaceEvents(noteReads())
  replaceIdleTime(readAhead)
}

/** The page's time in milliseconds, and by how much it is ahead of the browser's. */
interface Now {
  time: number
  ahead: number
}

function replaceDate(noteRead: (time: number) => number): () => Now {
  const { floor } = Math
  const NativeDate = Date
  const { now: read } = Date
  const toText = Date.prototype.toString
  const now = (): Now => {
    const time = read()
    const ahead = floor(noteRead(time))
    return { time: time + ahead, ahead }
  }
  replaceIn(Date, 'now', () => () => now().time)
  const replaced = replace(Date, () => apply(toText, new NativeDate(now().time), []), {
    construct: (target, values, newTarget) => construct(target, values.length === 0 ? [now().time] : values, newTarget),
  })
  for (const [target, name] of [
    [globalThis, 'Date'],
    [Date.prototype, 'constructor'],
  ] as const)
    Object.defineProperty(target, name, { ...Object.getOwnPropertyDescriptor(target, name), value: replaced })
  return now
}

/** A format without a date formats the current one. */
function replaceFormats(now: () => Now): void {
  const { prototype } = Intl.DateTimeFormat
  const { get, set } = WeakMap.prototype
  /** The replaced format of each format, which is bound to its object. */
  const formats = new WeakMap<object, unknown>()
  const dateIn = (values: unknown[]): unknown[] => (values.length > 0 && values[0] !== undefined ? values : [now().time])
  replaceIn(prototype, 'formatToParts', (native) => (receiver, values) => apply(native, receiver, dateIn(values)))
  replaceIn(prototype, 'format', (native) => (receiver, values) => {
    const format = apply(native, receiver, values)
    const known = apply(get, formats, [format])
    if (known) return known
    const replaced = replace(format, (_, dates) => apply(format, undefined, dateIn(dates)))
    apply(set, formats, [format, replaced])
    return replaced
  })
}

function replaceTemporal(now: () => Now): void {
  const { Temporal } = globalThis as { Temporal?: Record<string, { prototype: { add: () => unknown } }> & { Now: object } }
  if (!Temporal) return
  for (const [name, kind] of Object.entries(TEMPORAL)) {
    const add = Temporal[kind]?.prototype.add
    if (!add) continue
    replaceIn(Temporal.Now, name, (native) => (receiver, values) => {
      const time = apply(native, receiver, values)
      const { ahead } = now()
      return ahead === 0 ? time : apply(add, time, [{ milliseconds: ahead }])
    })
  }
}

/** Entries keep the browser's time, but marks and measures are made with the page's. */
function replacePerformance(noteRead: (time: number) => number, readAhead: () => number): void {
  const { prototype } = Performance
  const own = performance
  replaceIn(prototype, 'now', (native) => (receiver, values) => {
    const time: number = apply(native, receiver, values)
    return time + noteRead(time)
  })
  const { now } = prototype
  const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
  replaceIn(prototype, 'mark', (native) => (receiver, values) => {
    const [name, options] = values
    const isNow = values.length > 0 && (options === undefined || (isObject(options) && options.startTime === undefined))
    if (readAhead() === 0 || !isNow) return apply(native, receiver, values)
    return apply(native, receiver, [name, { detail: isObject(options) ? options.detail : undefined, startTime: apply(now, own, []) }])
  })
  replaceIn(prototype, 'measure', (native) => (receiver, values) => {
    const [name, from, to] = values
    const options = isObject(from) ? from : { start: from }
    const isNow = values.length > 0 && to === undefined && options.end === undefined && options.duration === undefined
    if (readAhead() === 0 || !isNow || (isObject(from) && from.start === undefined)) return apply(native, receiver, values)
    return apply(native, receiver, [name, { start: options.start ?? 0, end: apply(now, own, []), detail: options.detail }])
  })
}

/** An event keeps the time of the first read. Only first reads count, because a script may read the same event often. */
function replaceEvents(noteRead: (time: number) => number): void {
  const { get, set } = WeakMap.prototype
  const known = new WeakMap<object, number>()
  replaceIn(Event.prototype, 'timeStamp', (native) => (receiver, values) => {
    const time: number = apply(native, receiver, values)
    const before: number | undefined = apply(get, known, [receiver])
    if (before !== undefined) return time + before
    const ahead = noteRead(time)
    apply(set, known, [receiver, ahead])
    return time + ahead
  })
}

function replaceIdleTime(readAhead: () => number): void {
  const { IdleDeadline } = globalThis as { IdleDeadline?: { prototype: object } }
  if (!IdleDeadline) return
  const { max } = Math
  const { get, set } = WeakMap.prototype
  const began = new WeakMap<object, number>()
  replaceIn(IdleDeadline.prototype, 'timeRemaining', (native) => (receiver, values) => {
    const left: number = apply(native, receiver, values)
    const ahead = readAhead()
    const before: number | undefined = apply(get, began, [receiver])
    if (before === undefined) apply(set, began, [receiver, ahead])
    return max(0, left - (ahead - (before ?? ahead)))
  })
}
