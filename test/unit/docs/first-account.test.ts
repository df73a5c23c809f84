import t from 'tap'
import { limitsOfPlan, PlansText } from '../../../crds/src/usage/plans.ts'
import { environmentOf, renderNotes, renderWithNotes } from '../../support/sources/chart.ts'
import { commandsOf, indentedCommandsOf, readText } from '../../support/sources/code-blocks.ts'

// A reader who installs the chart and runs all commands of the docs gets no 429: the first account's plan allows all of them in one minute.

/** Creation requests of a command, and the screenshots that they create. */
const creationOf = (command: string): { requests: number; screenshots: number } => {
  if (!/\/screenshots(\/batch)?["' ]/.test(command) || !/ -d /.test(command)) return { requests: 0, screenshots: 0 }
  const urls = /"urls": \[([^\]]*)\]/.exec(command)?.[1]
  return { requests: 1, screenshots: urls === undefined ? 1 : urls.split(',').length }
}

/** The command in the installation notes that changes a plan. */
const patchCommand = /kubectl -n tintype patch account default --type=merge -p '(\{.*?\})'/

t.test('the commands of the docs fit into one minute of the first account’s plan', async (t) => {
  const { objects, notes } = await renderWithNotes()
  const settings = environmentOf(objects, 'Deployment tintype-operator')
  const plan = limitsOfPlan(PlansText.parse(settings.TINTYPE_PLANS), settings.TINTYPE_BOOTSTRAP_PLAN ?? '')
  const manual = ['README.md', 'docs/api.md', 'docs/webhooks.md', 'charts/tintype/README.md'].flatMap((file) => commandsOf(readText(file)))
  const creations = [...manual, ...indentedCommandsOf(notes)].map(creationOf)
  const requests = creations.reduce((sum, one) => sum + one.requests, 0)
  const screenshots = creations.reduce((sum, one) => sum + one.screenshots, 0)
  t.ok(requests >= 5 && screenshots > requests, `${requests} requests, ${screenshots} screenshots`)
  // Twice: readers repeat a command that they have mistyped.
  t.ok(2 * requests <= (plan.ratePerMinute ?? Number.POSITIVE_INFINITY), `${plan.ratePerMinute} a minute`)
  t.ok(10 * screenshots <= plan.monthlyQuota, `${plan.monthlyQuota} a month`)
})

t.test('installation notes show the first account’s plan, its quota and rate, and the command that changes it', async (t) => {
  const notes = await renderNotes()
  t.match(notes, /plan scale: 50000 screenshots per month, 150 requests per minute/)
  t.match(notes, patchCommand)
  t.match(await renderNotes({ 'bootstrap.plan': 'free' }), /plan free: 100 screenshots per month, 2 requests per minute/)
  t.match(await renderNotes({ 'plans.scale.ratePerMinute': null }), /plan scale: 50000 screenshots per month, no rate limit/)
  t.notMatch(await renderNotes({ 'bootstrap.enabled': false }), patchCommand)
})

for (const file of ['docs/operations.md', 'charts/tintype/README.md']) {
  t.test(`${file} states the first account’s plan and the command that changes it`, async (t) => {
    const text = readText(file).replaceAll(/\s+/g, ' ')
    t.ok(/`scale`[^.]*50,000 screenshots a month[^.]*150 requests a minute/.test(text), 'the plan')
    t.ok(patchCommand.test(text), 'the command')
  })
}
