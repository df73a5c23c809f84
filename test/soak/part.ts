import type { Table } from '../bench/report/table.ts'
import type { SoakSettings } from './settings.ts'

/** One result, met or not. */
export interface Finding {
  /** The claim as a sentence. */
  shows: string
  measured: string
  /** The limit. Empty if the value is only reported. */
  bar: string
  isMet: boolean
}

/** Input of a part. */
export interface PartContext {
  settings: SoakSettings
  progress: (line: string) => void
}

/** Results of a part. */
export interface PartResult {
  findings: Finding[]
  tables?: Table[]
}

/** One independent part of the soak run. */
export interface Part {
  name: string
  shows: string
  run: (context: PartContext) => Promise<PartResult>
}

/** At most `bar`. */
export const atMost = (shows: string, value: number, bar: number, unit: string, digits = 0): Finding => ({
  shows,
  measured: `${value.toFixed(digits)} ${unit}`.trim(),
  bar: `≤ ${bar} ${unit}`.trim(),
  isMet: value <= bar,
})

/** At least `bar`. */
export const atLeast = (shows: string, value: number, bar: number, unit: string, digits = 0): Finding => ({
  shows,
  measured: `${value.toFixed(digits)} ${unit}`.trim(),
  bar: `≥ ${bar} ${unit}`.trim(),
  isMet: value >= bar,
})

/** True or not. */
export const holds = (shows: string, isMet: boolean, measured: string): Finding => ({ shows, measured, bar: '', isMet })
