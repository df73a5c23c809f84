// Event types. The operator, the gateway, the CRDs and the OpenAPI document read this table.

interface EventRow {
  /** The captures that emit the event, and the field of `data` that has the record. A video is a Screenshot with a moving format. */
  subject: 'screenshot' | 'video'
  /** Phases that emit the event. Absent: it happens with the creation, whatever the phase. */
  phases?: readonly ('Completed' | 'Failed')[]
  /** True if only screenshots that changed emit it. */
  isOfChange?: boolean
  /** What the run of a schedule must have found, if only such runs emit it: that the page is shown again, or no longer. */
  fitness?: 'lost' | 'regained'
  /** True if `webhook_url` receives the event by default. */
  isRequestDefault: boolean
  /** For the OpenAPI document. */
  summary: string
  /** Status of the record in the example of the OpenAPI document. */
  example: 'pending' | 'completed' | 'failed'
}

/**
 * The events of a Screenshot object, in the order in which they can happen. An event with phases has the time at which the capture finished.
 */
export const EVENTS = {
  'screenshot.queued': { subject: 'screenshot', isRequestDefault: false, summary: 'A screenshot was accepted', example: 'pending' },
  'screenshot.completed': {
    ...{ subject: 'screenshot', phases: ['Completed'], isRequestDefault: true },
    ...{ summary: 'A capture succeeded', example: 'completed' },
  },
  'screenshot.changed': {
    ...{ subject: 'screenshot', phases: ['Completed'], isOfChange: true, isRequestDefault: false },
    ...{ summary: 'A picture differs from the one of compare_to', example: 'completed' },
  },
  'screenshot.unfit': {
    ...{ subject: 'screenshot', phases: ['Completed'], fitness: 'lost', isRequestDefault: false },
    ...{ summary: 'A run of a schedule no longer shows the page, so it is not compared', example: 'completed' },
  },
  'screenshot.fit': {
    ...{ subject: 'screenshot', phases: ['Completed'], fitness: 'regained', isRequestDefault: false },
    ...{ summary: 'A run of a schedule shows the page again', example: 'completed' },
  },
  'screenshot.failed': {
    ...{ subject: 'screenshot', phases: ['Failed'], isRequestDefault: true },
    ...{ summary: 'A capture failed', example: 'failed' },
  },
  'video.completed': {
    ...{ subject: 'video', phases: ['Completed'], isRequestDefault: true },
    ...{ summary: 'A video was recorded', example: 'completed' },
  },
  'video.failed': { subject: 'video', phases: ['Failed'], isRequestDefault: true, summary: 'A recording failed', example: 'failed' },
} as const satisfies Readonly<Record<string, EventRow>>
export type EventType = keyof typeof EVENTS
export type EventSubject = EventRow['subject']

/** Every event type that an endpoint may subscribe to. */
export const EVENT_TYPES = Object.keys(EVENTS) as EventType[]

const eventOf = (type: EventType): EventRow => EVENTS[type]

/** The field of `data` that has the record of the event. */
export const subjectOf = (type: EventType): EventSubject => eventOf(type).subject

/** True if the event happens when a Screenshot is created. */
export const isCreationEvent = (type: EventType): boolean => eventOf(type).phases === undefined

/** Event types of screenshots or of videos. */
export const eventTypesOf = (subject: EventSubject): EventType[] => EVENT_TYPES.filter((type) => subjectOf(type) === subject)

/** The part of a Screenshot's status that decides which events it has emitted. */
interface EmittingStatus {
  phase?: string | undefined
  result?: { comparison?: { changed: boolean } | undefined; unfit?: string | undefined } | undefined
}

/**
 * Events of a screenshot or a video with this status, in order.
 * @param wasFit for a run of a schedule that compares: whether the run before showed the page
 */
export const eventsOfStatus = (subject: EventSubject, { phase, result }: EmittingStatus = {}, wasFit?: boolean): EventType[] =>
  eventTypesOf(subject).filter((type) => {
    const { phases, isOfChange, fitness } = eventOf(type)
    if (phases?.some((emitting) => emitting === phase) === false) return false
    if (isOfChange) return result?.comparison?.changed === true
    return fitness === undefined || fitness === fitnessOf(result?.unfit === undefined, wasFit)
  })

const fitnessOf = (isFit: boolean, wasFit: boolean | undefined): EventRow['fitness'] =>
  wasFit === undefined || wasFit === isFit ? undefined : isFit ? 'regained' : 'lost'

/** Events that `webhook_url` receives by default. A capture emits only those of its subject. */
export const REQUEST_EVENTS = EVENT_TYPES.filter((type) => eventOf(type).isRequestDefault)
