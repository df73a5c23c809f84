import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import {
  configurationFile,
  readConfiguration,
  requireService,
  resolveSettings,
  writeConfiguration,
} from '../../../../api-gateway/cli/src/settings/settings.ts'

const home = { url: 'https://home.example', apiKey: 'home-key', linkKey: 'key_1', linkSecret: 'lsk_1' }
const work = { url: 'https://work.example/', apiKey: 'work-key' }

function withProfiles(t: { testdir: () => string }, current = 'home'): Record<string, string> {
  const XDG_CONFIG_HOME = t.testdir()
  writeConfiguration(configurationFile({ XDG_CONFIG_HOME }), { current, profiles: { home, work } })
  return { XDG_CONFIG_HOME }
}

t.test('resolveSettings prefers flags, then the environment, then the profile', async (t) => {
  const environment = withProfiles(t)
  t.match(resolveSettings({}, environment), { ...home, urlSource: 'profile home', keySource: 'profile home' })
  const variables = { ...environment, TINTYPE_URL: 'https://env.example', TINTYPE_API_KEY: 'env-key' }
  t.match(resolveSettings({}, variables), {
    url: 'https://env.example',
    apiKey: 'env-key',
    urlSource: 'TINTYPE_URL',
    keySource: 'TINTYPE_API_KEY',
  })
  const flags = { server: 'https://flag.example', apiKey: 'flag-key' }
  t.match(resolveSettings(flags, variables), {
    url: 'https://flag.example',
    apiKey: 'flag-key',
    urlSource: '--server',
    keySource: '--api-key',
  })
  t.match(resolveSettings({ profile: 'work' }, variables), work, 'a profile that a flag names comes before the environment')
  t.match(resolveSettings({}, { ...environment, TINTYPE_PROFILE: 'work' }), work)
})

t.test('resolveSettings sends the key of a profile only to the URL of that profile', async (t) => {
  const environment = withProfiles(t)
  const elsewhere = resolveSettings({ server: 'https://elsewhere.example' }, environment)
  t.match(elsewhere, { apiKey: undefined, linkKey: undefined, linkSecret: undefined })
  t.match(
    resolveSettings({ server: 'https://home.example/' }, environment),
    { apiKey: 'home-key' },
    'a slash at the end makes no difference',
  )
  t.throws(() => requireService(elsewhere), { message: /the API key for https:\/\/elsewhere.example is not set/, exitCode: 3 })
  const known = resolveSettings({ server: 'https://work.example' }, environment)
  t.throws(
    () => requireService(known),
    { message: /is not set. The profile work has one: add --profile work\.$/ },
    'another profile has the URL',
  )
})

t.test('resolveSettings never combines the link key of the environment with the link secret of a profile', async (t) => {
  const environment = withProfiles(t)
  t.match(resolveSettings({}, environment), { linkKey: 'key_1', linkSecret: 'lsk_1' })
  t.match(resolveSettings({}, { ...environment, TINTYPE_LINK_KEY: 'key_2' }), { linkKey: 'key_2', linkSecret: undefined })
  t.match(resolveSettings({}, { ...environment, TINTYPE_LINK_KEY: 'key_1' }), { linkKey: 'key_1', linkSecret: 'lsk_1' })
  t.match(resolveSettings({}, { ...environment, TINTYPE_LINK_SECRET: 'lsk_2' }), { linkKey: 'key_1', linkSecret: 'lsk_2' })
})

t.test('resolveSettings names the closest profile', async (t) => {
  t.throws(() => resolveSettings({ profile: 'hone' }, withProfiles(t)), {
    message:
      'no profile is named "hone". Did you mean home? Profiles: home, work. Create it with `tintype config set URL - --profile hone`.',
    exitCode: 2,
  })
  t.throws(() => requireService(resolveSettings({}, { XDG_CONFIG_HOME: t.testdir() })), { message: /the URL of the service is not set/ })
})

t.test('the configuration file is readable by its owner only, also if it was open before', async (t) => {
  const file = configurationFile({ XDG_CONFIG_HOME: t.testdir() })
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, '{}', { mode: 0o644 })
  writeConfiguration(file, { current: 'home', profiles: { home } })
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.match(JSON.parse(readFileSync(file, 'utf8')), { current: 'home', profiles: { home } })
})

t.test('readConfiguration explains a damaged file', async (t) => {
  const file = path.join(t.testdir({ 'config.json': '{' }), 'config.json')
  t.throws(() => readConfiguration(file), { message: /cannot read .*config\.json.*Correct or delete the file/, exitCode: 2 })
})

t.test('configurationFile follows the XDG base directories', async (t) => {
  t.equal(configurationFile({ XDG_CONFIG_HOME: '/x', HOME: '/home/ada' }), '/x/tintype/config.json')
  t.equal(configurationFile({ HOME: '/home/ada' }), '/home/ada/.config/tintype/config.json')
})
