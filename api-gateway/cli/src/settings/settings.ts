import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { CliError, EXIT, suggestion, UsageError } from '../common/errors.ts'

/** Which service the program uses, and with which API key. */
export interface Settings {
  url: string | undefined
  apiKey: string | undefined
  linkKey: string | undefined
  linkSecret: string | undefined
  /** A profile that was not chosen, and has this URL. */
  otherProfile?: string | undefined
  /** Where the URL and the API key come from, for `tintype doctor`. */
  urlSource: string
  keySource: string
}

export interface SettingFlags {
  server?: string | undefined
  apiKey?: string | undefined
  profile?: string | undefined
}

/** The chosen profile, or undefined if there is none. */
function findProfile({ current, profiles }: Configuration, wanted: string | undefined): { name: string; profile: Profile } | undefined {
  const name = wanted ?? current
  if (name === undefined) return undefined
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile !== undefined) return { name, profile }
  const names = Object.keys(profiles)
  const known = names.length === 0 ? 'There are no profiles.' : `Profiles: ${names.join(', ')}.`
  throw new UsageError(
    `no profile is named "${name}".${suggestion(name, names)} ${known} Create it with \`tintype config set URL - --profile ${name}\`.`,
  )
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

/**
 * Flags come first, then the environment, then the profile. A profile that a flag names comes before the environment. The API key of a profile is
 * only sent to the URL of that profile, so that a mistyped variable does not send it to another host.
 */
export function resolveSettings(flags: SettingFlags, environment: Environment): Settings {
  const wanted = flags.profile ?? (environment.TINTYPE_PROFILE || undefined)
  const configuration = readConfiguration(configurationFile(environment))
  const found = findProfile(configuration, wanted)
  const isProfileNamed = flags.profile !== undefined
  const variables = isProfileNamed ? {} : environment
  const profileSource = found === undefined ? 'not set' : `profile ${found.name}`
  const url = flags.server ?? (variables.TINTYPE_URL || found?.profile.url)
  const hasUrl = (profile: Profile): boolean => url !== undefined && withoutSlash(url) === withoutSlash(profile.url)
  const isOwnUrl = found !== undefined && hasUrl(found.profile)
  const ownKey = isOwnUrl ? found.profile.apiKey : undefined
  // The secret of a profile belongs to the key of that profile.
  const isOwnLinkKey = isOwnUrl && (variables.TINTYPE_LINK_KEY || found.profile.linkKey) === found.profile.linkKey
  const sourceOf = (flag: string | undefined, name: string, variable: string): string =>
    flag !== undefined ? `--${name}` : variables[variable] ? variable : profileSource
  return {
    url,
    apiKey: flags.apiKey ?? (variables.TINTYPE_API_KEY || ownKey),
    linkKey: variables.TINTYPE_LINK_KEY || (isOwnUrl ? found.profile.linkKey : undefined),
    linkSecret: variables.TINTYPE_LINK_SECRET || (isOwnLinkKey ? found?.profile.linkSecret : undefined),
    otherProfile: Object.entries(configuration.profiles).find(([name, profile]) => name !== found?.name && hasUrl(profile))?.[0],
    urlSource: sourceOf(flags.server, 'server', 'TINTYPE_URL'),
    keySource: sourceOf(flags.apiKey, 'api-key', 'TINTYPE_API_KEY'),
  }
}

const HOW_TO_SET = 'Set TINTYPE_URL and TINTYPE_API_KEY, or run `tintype config set URL -`.'

/** The URL and the API key. Both must be set. */
export function requireService({ url, apiKey, otherProfile }: Settings): { url: string; apiKey: string } {
  if (url === undefined) throw new CliError(`the URL of the service is not set. ${HOW_TO_SET}`, EXIT.unreachable)
  if (apiKey === undefined) {
    const remedy = otherProfile === undefined ? HOW_TO_SET : `The profile ${otherProfile} has one: add --profile ${otherProfile}.`
    throw new CliError(`the API key for ${url} is not set. ${remedy}`, EXIT.unreachable)
  }
  return { url, apiKey }
}

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
