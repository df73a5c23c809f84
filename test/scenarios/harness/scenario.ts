import type { Ends } from '../../support/processes/own-plane.ts'
import type { Options, Settings } from './options.ts'
import type { Table } from './table.ts'

/** One result, met or not. */
export interface Finding {
  /** The claim as a sentence. */
  shows: string
  measured: string
  /** The limit. Empty if the value is only reported. */
  bar: string
  isMet: boolean
}

/** Writes results as they are made. */
export interface Report {
  /** A claim that is true or not. */
  holds: (shows: string, isMet: boolean, measured: string) => void
  atMost: (shows: string, value: number, bar: number, unit: string, digits?: number) => void
  atLeast: (shows: string, value: number, bar: number, unit: string, digits?: number) => void
  /** A value without a limit. */
  note: (shows: string, measured: string) => void
  table: (table: Table) => void
  /** Something that happens, which is no result. */
  progress: (line: string) => void
}

/** What a scenario gets. */
export interface Context<S = undefined, O extends Options = object> extends Report {
  stage: S
  settings: Settings<O>
  /** Cleanup functions. They run after the scenario, in reverse order. */
  ends: Ends
}

/** What must run before a scenario. `engine`: browsers or runners. `plane`: all other programs, with simulated runners. `cluster`: everything. */
export interface Stage<S> {
  name: 'engine' | 'plane' | 'cluster'
  open: (ends: Ends, progress: Report['progress']) => Promise<S>
  /** For the figures: what the times depend on besides the machine. */
  about: () => string
}

/** A measurement or a long test. */
export interface Scenario<S = unknown, O extends Options = Options> {
  name: string
  /** What it measures or claims, in one line. */
  shows: string
  /** Absent: it needs none of the stages. */
  stage?: Stage<S>
  /** The options that it takes, with their defaults. */
  options?: O
  run: (context: Context<S, O>) => Promise<void>
}

/** Lets TypeScript infer the types of a scenario. */
export const scenario = <S = undefined, O extends Options = object>(given: Scenario<S, O>): Scenario => given as unknown as Scenario

/** Creates the functions that make findings and tables. `write` gets each of them at once. */
export function reportTo(write: (result: Finding | Table) => void, progress: Report['progress']): Report {
  const holds: Report['holds'] = (shows, isMet, measured) => write({ shows, measured, bar: '', isMet })
  const compare = (sign: '≤' | '≥', isIn: (value: number, bar: number) => boolean): Report['atMost'] => {
    return (shows, value, bar, unit, digits = 0) =>
      write({ shows, measured: `${value.toFixed(digits)} ${unit}`.trim(), bar: `${sign} ${bar} ${unit}`.trim(), isMet: isIn(value, bar) })
  }
  return {
    holds,
    atMost: compare('≤', (value, bar) => value <= bar),
    atLeast: compare('≥', (value, bar) => value >= bar),
    note: (shows, measured) => holds(shows, true, measured),
    table: write,
    progress,
  }
}
