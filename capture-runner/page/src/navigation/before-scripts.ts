import type { PageFunctions } from '../../../src/page/functions.ts'

// These run before any script of the page: the first four in its own world, where they change what the page finds.

export const removeSharedWorkers: PageFunctions['removeSharedWorkers'] = () => {
  delete (globalThis as { SharedWorker?: unknown }).SharedWorker
}

export const refuseServiceWorkers: PageFunctions['refuseServiceWorkers'] = () => {
  // Pages of insecure origins have none.
  if (!globalThis.ServiceWorkerContainer) return
  replaceIn(globalThis.ServiceWorkerContainer.prototype, 'register', () => () => Promise.resolve())
}

export const adjustGlobals: PageFunctions['adjustGlobals'] = (borders) => {
  if (borders) setOuterSize(borders)
  if (typeof document === 'undefined') keepFrames()
  moveClock()
  nameReplaced()
}

/**
 * A browser whose frames the runner begins waits in each of them for the canvas of a worker that has asked for frames before, and so for ever once the worker
 * asks for no more. So a worker that has asked once goes on.
 */
function keepFrames(): void {
  let isKept = false
  replaceIn(globalThis, 'requestAnimationFrame', (native) => {
    const goOn = (): void => void apply(native, globalThis, [goOn])
    return (receiver, values) => {
      const id = apply(native, receiver, values)
      if (!isKept) goOn()
      isKept = true
      return id
    }
  })
}

function setOuterSize(borders: { width: number; height: number }): void {
  const { apply, getOwnPropertyDescriptor } = Reflect
  const screenOf = getOwnPropertyDescriptor(globalThis, 'screen')?.get
  const sides = { outerWidth: 'width', outerHeight: 'height' } as const
  for (const [name, side] of Object.entries(sides)) {
    const lengthOf = getOwnPropertyDescriptor(Screen.prototype, side)?.get
    if (!lengthOf || !screenOf) continue
    replaceIn(globalThis, name, (native) => (receiver, values) => {
      apply(native, receiver, values) // throws for what is not a window
      const length: number = apply(lengthOf, apply(screenOf, receiver, []), [])
      return length === 0 ? 0 : length + borders[side]
    })
  }
}

export const refuseWebSockets: PageFunctions['refuseWebSockets'] = () => {
  if (!globalThis.WebSocket) return
  class WebSocket extends EventTarget {
    binaryType = 'blob'
    bufferedAmount = 0
    extensions = ''
    protocol = ''
    readyState = 0
    onopen = null
    onmessage = null
    onerror: ((event: Event) => void) | null = null
    onclose: ((event: Event) => void) | null = null
    url: string
    constructor(url: string) {
      super()
      this.url = String(new URL(url, location.href)).replace(/^http/, 'ws')
      setTimeout(() => {
        this.readyState = 3
        this.#report(new Event('error'), this.onerror)
        this.#report(new CloseEvent('close', { code: 1006 }), this.onclose)
      })
    }
    send() {}
    close() {}
    #report(event: Event, handler: ((event: Event) => void) | null): void {
      handler?.call(this, event)
      this.dispatchEvent(event)
    }
  }
  const states = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 }
  Object.assign(WebSocket, states)
  Object.assign(WebSocket.prototype, states)
  globalThis.WebSocket = WebSocket as unknown as typeof globalThis.WebSocket
}

/** Does not overwrite values that the page has changed. */
export const writeStorage: PageFunctions['writeStorage'] = (origin, entries) => {
  if (location.origin !== origin) return
  for (const [name, value] of Object.entries(entries)) localStorage.getItem(name) ?? localStorage.setItem(name, value)
}

// A virtual clock stands still during a task, so a script that waits for it in a loop would never end (ADR 34). After many reads of the same time, each read
// adds a little. What has been added stays, so that time never goes back and no timer is early.

/** Reads of the same time after which the clock may stand still, and after as many more it does. */
const READS = 10_000
/** Reads that add a tenth of a millisecond, the resolution of the browser's clock. */
const READS_PER_TENTH = 5

const { apply, construct, getOwnPropertyDescriptor } = Reflect

/** How to add a duration to the result of each function of Temporal. A day is too long for a loop. */
const TEMPORAL = { instant: 'Instant', zonedDateTimeISO: 'ZonedDateTime', plainDateTimeISO: 'PlainDateTime', plainTimeISO: 'PlainTime' }

/** Replaces all functions from which a script learns the time within a task. */
function moveClock(): void {
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

// Replaces functions of the browser so that the page does not notice. They are proxies of the browser's own, so that names, lengths and errors stay. Only
// their text would lack the name. The text must be right in every frame, also for functions of another frame, so it is recognized by what the browser
// says of them. Nothing here calls a method of the page's prototypes, because a page can replace those.

// biome-ignore lint/complexity/noBannedTypes: any native function
type Native = Function

/** What a replaced function does. */
type Call = (receiver: unknown, values: unknown[]) => unknown

/** The names of all replaced functions. */
const names: Record<string, true> = Object.create(null)

/** Without a prototype, so that a page cannot add traps. */
const trapsOf = <F extends Native>(traps: ProxyHandler<F>): ProxyHandler<F> => Object.assign(Object.create(null), traps)

/** A function in place of one of the browser's. @param traps for one that is also a constructor */
function replace<F extends Native>(native: F, call: Call, traps: ProxyHandler<F> = {}): F {
  names[native.name] = true
  return new Proxy(native, trapsOf({ ...traps, apply: (_: F, receiver: unknown, values: unknown[]) => call(receiver, values) }))
}

/** Replaces a method or a getter. Does nothing if the browser has none of this name. */
function replaceIn(target: object, name: string, toCall: (native: Native) => Call): void {
  const property = getOwnPropertyDescriptor(target, name)
  const key = property?.get ? 'get' : 'value'
  const native: unknown = property?.[key]
  if (typeof native === 'function') Object.defineProperty(target, name, { ...property, [key]: replace(native, toCall(native)) })
}

const NAMELESS = 'function () { [native code] }'

/** Gives the replaced functions of all frames their text. To be called once, after the replacements. */
function nameReplaced(): void {
  replaceIn(Function.prototype, 'toString', (native) => (receiver, values) => {
    const text: string = apply(native, receiver, values)
    const name: unknown = text === NAMELESS && getOwnPropertyDescriptor(receiver as object, 'name')?.value
    return typeof name === 'string' && names[name] ? `function ${name}() { [native code] }` : text
  })
}
