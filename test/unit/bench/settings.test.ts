import t from 'tap'
import { HELP, PARTS, parseSettings } from '../../bench/settings.ts'

t.test('parseSettings measures everything and writes nothing by default', async (t) => {
  const settings = parseSettings([])
  t.strictSame(settings?.only, PARTS)
  t.equal(settings?.write, false)
  t.ok((settings?.rounds ?? 0) > 1, 'several rounds')
})

t.test('parseSettings reads all options', async (t) => {
  const settings = parseSettings([
    '--rounds',
    '2',
    '--pause',
    '0',
    '--page',
    'http://a/',
    '--page',
    'http://b/',
    '--only',
    'burst',
    '--write',
  ])
  t.match(settings, { rounds: 2, pauseMilliseconds: 0, pages: ['http://a/', 'http://b/'], only: ['burst'], write: true })
})

t.test('parseSettings rejects invalid values', async (t) => {
  for (const args of [
    ['--rounds', '0'],
    ['--captures', '1.5'],
    ['--pause', '-1'],
    ['--burst', 'many'],
    ['--clients', '0'],
    ['--only', 'nothing'],
    ['--fast'],
  ]) {
    t.throws(() => parseSettings(args), Error, args.join(' '))
  }
})

t.test('parseSettings returns undefined for --help, and the help names every option', async (t) => {
  t.equal(parseSettings(['--help']), undefined)
  for (const name of [
    'rounds',
    'captures',
    'pause',
    'burst',
    'browsers',
    'page',
    'creates',
    'clients',
    'seconds',
    'records',
    'profile',
    'from',
    'only',
    'write',
  ])
    t.match(HELP, `--${name}`)
})
