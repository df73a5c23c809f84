import type { CaptureOptions, ScreenshotFields, VideoOptions } from '../../../client/src/index.ts'

/** What the text of a flag becomes. */
export type FlagKind = 'boolean' | 'integer' | 'number' | 'text' | 'list' | 'map' | 'cookies'

/** A capture option of the API. */
export interface CaptureOption {
  /** In snake case, as in the API. A name that the client does not know does not compile. */
  name: keyof CaptureOptions | keyof VideoOptions | Exclude<keyof ScreenshotFields, 'url'> | 'async'
  kind: FlagKind
  summary: string
  /** All values, if there are few. */
  values?: readonly string[]
}

export interface OptionGroup {
  title: string
  options: readonly CaptureOption[]
}

/** A flag of the command line. */
export interface Flag {
  /** Without the dashes: `full-page`. */
  name: string
  /** One letter: `o`. */
  short?: string
  kind: FlagKind
  /** Name of the value in help: `FILE`. */
  value?: string
  summary: string
  values?: readonly string[]
  /** True if `--no-NAME` sets it to false. */
  isNegatable?: boolean
}

/** Name of a capture option as a flag: `full_page` → `full-page`. */
export const toFlagName = (option: string): string => option.replaceAll('_', '-')

/** Name of a flag as a capture option: `full-page` → `full_page`. */
export const toOptionName = (flag: string): string => flag.replaceAll('-', '_')

/** A command as help and completion show it. */
export interface CommandLine {
  /** Words of the command: `keys create`. */
  name: string
  /** Positional arguments, if any: `NAME`, `[ID]` for one that may be left out, and `URL...` for several. */
  usage?: string
  summary: string
  flags?: readonly Flag[]
}

/** The flags of a command, then the common ones that it does not describe itself. */
export const withCommon = (flags: readonly Flag[], common: readonly Flag[]): Flag[] => [
  ...flags,
  ...common.filter(({ name }) => !flags.some((own) => own.name === name)),
]
