import type { Table } from '../bench/report/table.ts'
import type { SoakSettings } from './settings.ts'

/** One thing that was shown, or not. */
export interface Finding {
  /** What is claimed, as a sentence. */
  shows: string
  measured: string
  /** The bar; empty: only told. */
  bar: string
  isMet: boolean
}

/** What a part has to work with. */
export interface PartContext {
  settings: SoakSettings
  tell: (line: string) => void
}

/** What a part came to. */
export interface PartResult {
  findings: Finding[]
  tables?: Table[]
}

/** One part of the soak run; each stands alone. */
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
