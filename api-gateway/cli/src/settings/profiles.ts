import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { CliError, EXIT } from '../common/errors.ts'

/** What the configuration file stores about one service. */
export interface Profile {
  url: string
  apiKey: string
  /** Id of an API key and its link secret, which sign links. */
  linkKey?: string
  linkSecret?: string
}

export interface Configuration {
  /** Name of the profile that is used without --profile. */
  current: string | undefined
  profiles: Readonly<Record<string, Profile>>
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The file contains API keys, so only its owner may read it. */
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700

/** `$XDG_CONFIG_HOME/tintype/config.json`, or below `~/.config`. */
export function configurationFile({ XDG_CONFIG_HOME, HOME, USERPROFILE }: Environment): string {
  const base = XDG_CONFIG_HOME || path.join(HOME || USERPROFILE || '.', '.config')
  return path.join(base, 'tintype', 'config.json')
}

/** Reads the profiles. Without a file there are none. */
export function readConfiguration(file: string): Configuration {
  try {
    const { current, profiles } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Configuration>
    return { current, profiles: profiles ?? {} }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: undefined, profiles: {} }
    throw new CliError(`cannot read ${file}: ${(error as Error).message}. Correct or delete the file.`, EXIT.usage)
  }
}

/** Writes the profiles. A reader sees the old or the new file, never a part. */
export function writeConfiguration(file: string, configuration: Configuration): void {
  mkdirSync(path.dirname(file), { recursive: true, mode: FOLDER_MODE })
  const temporary = `${file}.${process.pid}.tmp`
  writeFileSync(temporary, `${JSON.stringify(configuration, undefined, 2)}\n`, { mode: FILE_MODE })
  chmodSync(temporary, FILE_MODE)
  renameSync(temporary, file)
}
