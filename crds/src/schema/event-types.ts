// Event types. The operator, the gateway, the CRDs and the OpenAPI document read this table.

interface ScreenshotEvent {
  /** Phases that emit the event. Absent: it happens with the creation, whatever the phase. */
  phases?: readonly ('Completed' | 'Failed')[]
  /** True if `webhook_url` receives the event by default. */
  isRequestDefault: boolean
  /** For the OpenAPI document. */
  summary: string
  /** Status of the screenshot in the example of the OpenAPI document. */
  example: 'pending' | 'completed' | 'failed'
}

/** The events of a Screenshot, in the order in which they can happen. An event with phases has the time at which the capture finished. */
export const SCREENSHOT_EVENTS = {
  'screenshot.queued': { isRequestDefault: false, summary: 'A screenshot was accepted', example: 'pending' },
  'screenshot.completed': { phases: ['Completed'], isRequestDefault: true, summary: 'A capture succeeded', example: 'completed' },
  'screenshot.failed': { phases: ['Failed'], isRequestDefault: true, summary: 'A capture failed', example: 'failed' },
} as const satisfies Readonly<Record<string, ScreenshotEvent>>
export type ScreenshotEventType = keyof typeof SCREENSHOT_EVENTS

export const SCREENSHOT_EVENT_TYPES = Object.keys(SCREENSHOT_EVENTS) as ScreenshotEventType[]

/** Endpoints may subscribe to video events, but none are emitted yet. */
const VIDEO_EVENT_TYPES = ['video.completed', 'video.failed'] as const

/** Every event type that an endpoint may subscribe to. */
export const EVENT_TYPES = [...SCREENSHOT_EVENT_TYPES, ...VIDEO_EVENT_TYPES]
export type EventType = (typeof EVENT_TYPES)[number]

const eventOf = (type: ScreenshotEventType): ScreenshotEvent => SCREENSHOT_EVENTS[type]

/** True if the event happens when a Screenshot is created. */
export const isCreationEvent = (type: ScreenshotEventType): boolean => eventOf(type).phases === undefined

/** Events of a Screenshot in this phase, in order. */
export const eventsOfPhase = (phase: string | undefined): ScreenshotEventType[] =>
  SCREENSHOT_EVENT_TYPES.filter((type) => eventOf(type).phases?.some((emitting) => emitting === phase) ?? true)

/** Events that `webhook_url` receives by default. */
export const REQUEST_EVENTS = SCREENSHOT_EVENT_TYPES.filter((type) => eventOf(type).isRequestDefault)
