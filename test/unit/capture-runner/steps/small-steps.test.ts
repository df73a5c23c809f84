import t from 'tap'
import { hidingRules } from '../../../../capture-runner/src/steps/injection/add-styles.ts'
import { toAbsolute } from '../../../../capture-runner/src/steps/injection/styles.ts'
import { checkAddress } from '../../../../capture-runner/src/steps/navigation/check-response.ts'

t.test('toAbsolute resolves URLs in a sheet against the sheet’s URL', async (t) => {
  const base = 'https://cdn.example/css/a.css'
  for (const [sheet, absolute] of [
    ['url(x.png)', 'url(https://cdn.example/css/x.png)'],
    ["url( '../x.png' )", "url('https://cdn.example/x.png')"],
    ['url("//b.example/x")', 'url("https://b.example/x")'],
    ['url(data:image/png;base64,AA)', 'url(data:image/png;base64,AA)'],
    ['url(#mark)', 'url(#mark)'],
  ] as const) {
    t.equal(toAbsolute(sheet, base), absolute)
  }
})

t.test('hidingRules creates a rule for each selector', async (t) => {
  t.equal(hidingRules(['#a', '.b, .c']), '#a { display: none !important }\n.b, .c { display: none !important }')
})

t.test('checkAddress distinguishes a change of site from any redirect', async (t) => {
  const check = (refusedRedirect: 'cross_site' | 'always', shown: string) => () =>
    checkAddress({ url: 'https://example.com/a', refusedRedirect }, shown)
  t.doesNotThrow(check('always', 'https://example.com/a#part'))
  t.throws(check('always', 'https://example.com/b'), { code: 'CONTENT_RULE' })
  t.doesNotThrow(check('cross_site', 'https://www.example.com/b'))
  t.throws(check('cross_site', 'https://login.example.org/'), { code: 'CONTENT_RULE' })
})
