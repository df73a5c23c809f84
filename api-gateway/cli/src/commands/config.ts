import { suggestion, UsageError } from '../common/errors.ts'
import { type Configuration, configurationFile, type Profile, readConfiguration, writeConfiguration } from '../settings/settings.ts'
import type { Command, Context } from './context.ts'

const DEFAULT_PROFILE = 'default'

const fileOf = (context: Context): string => configurationFile(context.world.environment)
const profileOf = (context: Context): string => context.text('profile') ?? DEFAULT_PROFILE

function assertKnown({ profiles }: Configuration, name: string): void {
  const names = Object.keys(profiles)
  if (!names.includes(name)) {
    throw new UsageError(`no profile is named "${name}".${suggestion(name, names)} Run \`tintype config list\` to see the names.`)
  }
}

/** An API key on the command line is visible in the history of the shell, so `-` reads it from standard input. */
async function readSecret(text: string, { stdin, stderr }: Context['world']): Promise<string> {
  if (text !== '-') return text
  if (stderr.isTerminal) stderr.write('API key: ')
  let line = ''
  for await (const chunk of stdin) {
    line += Buffer.from(chunk).toString('utf8')
    if (line.includes('\n')) break
  }
  return line.split('\n')[0]?.trim() ?? ''
}

const set: Command = {
  name: 'config set',
  usage: 'URL KEY',
  summary: 'Stores a URL and an API key',
  flags: [
    { name: 'profile', kind: 'text', value: 'NAME', summary: `Profile to store; default: ${DEFAULT_PROFILE}` },
    { name: 'link-key', kind: 'text', value: 'KEY_ID', summary: 'Id of the API key that signs links, key_…' },
    { name: 'link-secret', kind: 'text', value: 'SECRET', summary: 'Link secret of that key, lsk_…' },
  ],
  notes: ['  tintype config set URL -', '', 'KEY - reads the key from standard input, so that it is not in the history of', 'the shell.'],
  isLocal: true,
  async run(context) {
    const url = context.argument(0)
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new UsageError(`"${url}" is no http or https URL. Use the URL of the service, such as https://tintype.example.com.`)
    }
    const apiKey = await readSecret(context.argument(1), context.world)
    if (!/^[!-~]+$/.test(apiKey))
      throw new UsageError('the API key is empty or contains spaces. Use the value that `tintype keys create` prints.')
    const [linkKey, linkSecret] = [context.text('link-key'), context.text('link-secret')]
    const profile: Profile = { url, apiKey, ...(linkKey && { linkKey }), ...(linkSecret && { linkSecret }) }
    const file = fileOf(context)
    const { current, profiles } = readConfiguration(file)
    const name = profileOf(context)
    writeConfiguration(file, { current: current ?? name, profiles: { ...profiles, [name]: profile } })
    context.print(`stored profile ${name} in ${file}`)
  },
}

const listProfiles: Command = {
  name: 'config list',
  summary: 'Lists the profiles, without their API keys',
  isLocal: true,
  run(context) {
    const { current, profiles } = readConfiguration(fileOf(context))
    const found = Object.entries(profiles).map(([name, { url, apiKey, linkKey }]) => ({
      ...{ name, url, key_ends_in: apiKey.slice(-4), link_key: linkKey ?? null, is_current: name === current },
    }))
    const toRow = ({ name, url, key_ends_in, is_current }: (typeof found)[number]) => [is_current ? '*' : '', name, url, `…${key_ends_in}`]
    context.showTable(found, ['', 'NAME', 'URL', 'KEY ENDS IN'], toRow, 'no profiles')
  },
}

const use: Command = {
  name: 'config use',
  usage: 'NAME',
  summary: 'Chooses the profile that commands use by default',
  isLocal: true,
  run(context) {
    const configuration = readConfiguration(fileOf(context))
    const name = context.argument(0)
    assertKnown(configuration, name)
    writeConfiguration(fileOf(context), { ...configuration, current: name })
    context.print(`using profile ${name}`)
  },
}

const removeProfile: Command = {
  name: 'config delete',
  usage: 'NAME',
  summary: 'Deletes a profile',
  isLocal: true,
  run(context) {
    const configuration = readConfiguration(fileOf(context))
    const name = context.argument(0)
    assertKnown(configuration, name)
    const profiles = Object.fromEntries(Object.entries(configuration.profiles).filter(([other]) => other !== name))
    const current = configuration.current === name ? Object.keys(profiles)[0] : configuration.current
    writeConfiguration(fileOf(context), { current, profiles })
    context.print(`deleted profile ${name}`)
  },
}

/** Commands about the profiles in the configuration file. */
export const configCommands: readonly Command[] = [set, listProfiles, use, removeProfile]
