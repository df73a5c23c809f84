import { FiltersEngine } from '@ghostery/adblocker'
import t from 'tap'
import { RequestEvaluator, toKind } from '../../../../capture-runner/src/blocking/request-evaluator.ts'
import type { RequestRules } from '../../../../capture-runner/src/plan/blocking.ts'

const engine = FiltersEngine.parse('||ads.example^$third-party\n||count.example/x.js$script,redirect=noopjs\n@@||ads.example/fine^')
const NOTHING: RequestRules = { engines: [], refused: [], refusedKinds: [], allowed: [], thirdParty: false }
const PAGE = 'https://news.example/'
const decide = (rules: Partial<RequestRules>, url: string, resourceType = 'Script', isPage = false) =>
  new RequestEvaluator(PAGE, { ...NOTHING, ...rules }, rules.engines ? [engine] : []).evaluate({
    url,
    resourceType,
    isPage,
    documentUrl: undefined,
  })

const cases: { name: string; decision: string; is: string }[] = [
  { name: 'passes what no rule is about', decision: decide({}, 'https://ads.example/a.js'), is: 'pass' },
  { name: 'refuses what a list knows', decision: decide({ engines: ['ads'] }, 'https://ads.example/a.js'), is: 'refuse' },
  { name: 'passes what a list excepts', decision: decide({ engines: ['ads'] }, 'https://ads.example/fine/a.js'), is: 'pass' },
  {
    name: 'answers a script for which there is a stand-in',
    decision: decide({ engines: ['ads'] }, 'https://count.example/x.js'),
    is: 'empty',
  },
  {
    name: 'answers a frame, which would show an error',
    decision: decide({ engines: ['ads'] }, 'https://ads.example/', 'Document'),
    is: 'empty',
  },
  { name: 'refuses patterns', decision: decide({ refused: ['*/a.js'] }, 'https://any.example/a.js'), is: 'refuse' },
  { name: 'refuses kinds', decision: decide({ refusedKinds: ['font'] }, 'https://any.example/f', 'Font'), is: 'refuse' },
  {
    name: 'takes fetch and xhr for the same',
    decision: decide({ refusedKinds: ['fetch'] }, 'https://any.example/f', 'XHR'),
    is: 'refuse',
  },
  { name: 'refuses other sites', decision: decide({ thirdParty: true }, 'https://cdn.other.example/f'), is: 'refuse' },
  { name: 'passes other hosts of the site', decision: decide({ thirdParty: true }, 'https://cdn.news.example/f'), is: 'pass' },
  {
    name: 'lets what is allowed win over everything',
    decision: decide({ engines: ['ads'], refused: ['*'], thirdParty: true, allowed: ['ads.example'] }, 'https://ads.example/a.js'),
    is: 'pass',
  },
  {
    name: 'never refuses the page',
    decision: decide({ refused: ['*'], refusedKinds: ['document'] }, PAGE, 'Document', true),
    is: 'pass',
  },
  { name: 'passes what comes from no site', decision: decide({ refused: ['*'] }, 'data:text/plain,x'), is: 'pass' },
]
for (const { name, decision, is } of cases) t.test(`RequestEvaluator ${name}`, async (t) => t.equal(decision, is))

t.test('RequestEvaluator goes by where redirects have led the page, and counts what it refuses', async (t) => {
  const evaluator = new RequestEvaluator('https://short.example/1', { ...NOTHING, thirdParty: true }, [])
  const ask = (url: string, resourceType: string, isPage = false) =>
    evaluator.evaluate({ url, resourceType, isPage, documentUrl: undefined })
  ask('https://short.example/1', 'Document', true)
  ask(PAGE, 'Document', true)
  t.equal(ask('https://news.example/a.png', 'Image'), 'pass')
  t.equal(ask('https://short.example/b.png', 'Image'), 'refuse')
  t.equal(evaluator.refused, 1)
  t.strictSame([...evaluator.refusedPlaces], ['https://short.example/b.png'])
})

t.test('toKind takes what it does not know for other', async (t) => {
  t.strictSame(['Image', 'Ping', 'Prefetch'].map(toKind), ['image', 'other', 'other'])
})
