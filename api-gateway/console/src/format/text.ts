import { replaceHidden, toEscape } from '@tintype/crds/text/visible'

// Numbers and times as people read them.

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB']

/** `1536` → `1.5 KiB`. */
export function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** power
  return `${power === 0 || amount >= 100 ? Math.round(amount) : amount.toFixed(1)} ${UNITS[power]}`
}

/** `1250` → `1.25 s`, `80` → `80 ms`. */
export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Math.round(milliseconds)} ms`
  const seconds = milliseconds / 1_000
  if (seconds < 59.95) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`
  const whole = Math.round(seconds)
  return `${Math.floor(whole / 60)} min ${whole % 60} s`
}

/** A unit from which on times are given in it. Days begin late: a time on Friday morning is not "tomorrow" on Wednesday evening. */
const STEPS: readonly (readonly [from: number, size: number, unit: Intl.RelativeTimeFormatUnit])[] = [
  [2 * 86_400_000, 86_400_000, 'day'],
  [3_600_000, 3_600_000, 'hour'],
  [60_000, 60_000, 'minute'],
  [1_000, 1_000, 'second'],
]
const relative = new Intl.RelativeTimeFormat('en')

/** `5 minutes ago`. */
export function formatAge(instant: string, now: Date): string {
  const difference = Date.parse(instant) - now.getTime()
  const step = STEPS.find(([from]) => Math.abs(difference) >= from)
  if (!step) return 'now'
  const [, size, unit] = step
  return relative.format(Math.round(difference / size), unit)
}

const absolute = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long', hourCycle: 'h23' })

const twoDigits = (value: number): string => String(value).padStart(2, '0')

/** A time as the value of an input of local times; empty for none. */
export function toLocalInput(instant: string | null): string {
  const time = new Date(instant ?? '')
  if (Number.isNaN(time.getTime())) return ''
  const [month, day, hours, minutes] = [time.getMonth() + 1, time.getDate(), time.getHours(), time.getMinutes()].map(twoDigits)
  return `${time.getFullYear()}-${month}-${day}T${hours}:${minutes}`
}

/** The time of an input of local times, for the API; empty for none. */
export const fromLocalInput = (text: string): string => (text === '' ? '' : new Date(text).toISOString())

/** Local date and time, with the zone. */
export const formatInstant = (instant: string): string => absolute.format(new Date(instant))

/** `12345` → `12,345`. */
export const formatNumber = (value: number): string => value.toLocaleString('en')

/** States of records, runs and deliveries in words. */
export const STATUS_TITLES: Readonly<Record<string, string>> = {
  pending: 'Pending',
  completed: 'Completed',
  failed: 'Failed',
  deleted: 'Deleted',
  successful: 'Successful',
}

/** One bar of the timing of a capture, in milliseconds. */
export interface Bar {
  name: string
  start: number
  length: number
}

/** Bars of the steps, one after the other, as the runner executes them. Steps without a measurable duration are left out. */
export function toWaterfall(steps: Readonly<Record<string, number>>): { bars: readonly Bar[]; total: number } {
  const bars: Bar[] = []
  let total = 0
  for (const [name, length] of Object.entries(steps)) {
    if (length > 0) bars.push({ name, start: total, length })
    total += length
  }
  return { bars, total }
}

/** `full_page_height` → `full page height`. */
export const toStepTitle = (name: string): string => name.replaceAll('_', ' ')

// Titles of pages, names and responses of receivers come from strangers. Hidden characters in them, such as U+202E, could make a text read as
// another one. Preact passes every element and every text to showHidden, so no part of the console can forget it.

/** Attributes that people see or hear. */
const SHOWN = ['alt', 'aria-label', 'aria-valuetext', 'placeholder', 'title'] as const

/** Hidden characters as escapes, such as `\u202e`. Line breaks and tabs stay, because blocks of code show them. */
export const toVisible = (text: string): string =>
  replaceHidden(text, (character) => (/[\t\n\r]/.test(character) ? character : toEscape(character)))

/** An element of preact, or a text, which has no type and itself as properties. */
interface Node {
  type: unknown
  props: unknown
}

/** Changes what is drawn: hidden characters in texts and attributes become visible. The values of input fields stay as they are. */
export function showHidden(node: Node): void {
  if (typeof node.type !== 'string') {
    if (typeof node.props === 'string') node.props = toVisible(node.props)
    return
  }
  const props = node.props as Record<string, unknown>
  for (const name of SHOWN) {
    const value = props[name]
    if (typeof value === 'string') props[name] = toVisible(value)
  }
}
