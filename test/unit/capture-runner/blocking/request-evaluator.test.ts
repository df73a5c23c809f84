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
  { name: 'passes a request without a matching rule', decision: decide({}, 'https://ads.example/a.js'), is: 'pass' },
  { name: 'blocks a request in a list', decision: decide({ engines: ['ads'] }, 'https://ads.example/a.js'), is: 'refuse' },
  { name: 'passes a request that a list excepts', decision: decide({ engines: ['ads'] }, 'https://ads.example/fine/a.js'), is: 'pass' },
  {
    name: 'responds to a script that has a replacement',
    decision: decide({ engines: ['ads'] }, 'https://count.example/x.js'),
    is: 'empty',
  },
  {
    name: 'responds to a blocked frame, which would show an error',
    decision: decide({ engines: ['ads'] }, 'https://ads.example/', 'Document'),
    is: 'empty',
  },
  { name: 'blocks patterns', decision: decide({ refused: ['*/a.js'] }, 'https://any.example/a.js'), is: 'refuse' },
  { name: 'blocks resource types', decision: decide({ refusedKinds: ['font'] }, 'https://any.example/f', 'Font'), is: 'refuse' },
  {
    name: 'treats fetch and xhr as the same type',
    decision: decide({ refusedKinds: ['fetch'] }, 'https://any.example/f', 'XHR'),
    is: 'refuse',
  },
  { name: 'blocks other sites', decision: decide({ thirdParty: true }, 'https://cdn.other.example/f'), is: 'refuse' },
  { name: 'passes other hosts of the site', decision: decide({ thirdParty: true }, 'https://cdn.news.example/f'), is: 'pass' },
  {
    name: 'gives allowed patterns precedence over all rules',
    decision: decide({ engines: ['ads'], refused: ['*'], thirdParty: true, allowed: ['ads.example'] }, 'https://ads.example/a.js'),
    is: 'pass',
  },
  {
    name: 'never blocks the page',
    decision: decide({ refused: ['*'], refusedKinds: ['document'] }, PAGE, 'Document', true),
    is: 'pass',
  },
  { name: 'passes data URLs', decision: decide({ refused: ['*'] }, 'data:text/plain,x'), is: 'pass' },
]
for (const { name, decision, is } of cases) t.test(`RequestEvaluator ${name}`, async (t) => t.equal(decision, is))

t.test('RequestEvaluator uses the page’s URL after redirects, and counts blocked requests', async (t) => {
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

t.test('toKind maps an unknown type to other', async (t) => {
  t.strictSame(['Image', 'Ping', 'Prefetch'].map(toKind), ['image', 'other', 'other'])
})
