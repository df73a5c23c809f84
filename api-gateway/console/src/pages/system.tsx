import { api, type Schemas } from '../api/client.ts'
import { formatAge, formatNumber } from '../format/text.ts'
import type { Page } from '../routing/router.ts'
import { Bars } from '../ui/bars.tsx'
import { ErrorNote, Missing } from '../ui/notes.tsx'
import { DataTable, Panel } from '../ui/panel.tsx'
import { useData } from '../ui/use-data.ts'

const REFRESH_MILLISECONDS = 3_000

type SystemData = Schemas['System']['data']

const System: Page = () => {
  const { value, error } = useData('system', async () => (await api<Schemas['System']>('/system')).data.data, REFRESH_MILLISECONDS)
  if (!value) return <Missing error={error} />
  const { pools, runners, queue, recent } = value
  return (
    <>
      <ErrorNote error={error} />
      <DataTable
        title="Pools"
        head={['Pool', 'State', 'Runners', 'Idle', 'Busy', 'Queued', 'Sandbox']}
        empty="No RunnerPool exists."
        rows={pools.map((pool) => [
          <>
            <strong>{pool.name}</strong>
            {pool.records_videos ? <span class="count">videos</span> : null}
          </>,
          <PoolState pool={pool} />,
          `${formatNumber(pool.pods)} of ${formatNumber(pool.max_pods)}`,
          formatNumber(pool.idle),
          formatNumber(pool.busy),
          formatNumber(pool.queued),
          pool.sandboxed === null ? 'unknown' : pool.sandboxed ? 'on' : 'off',
        ])}
      />
      <DataTable
        title="Queue"
        head={['Pool', 'Plan', 'Accounts', 'Queued', 'Running']}
        empty="The queue is empty."
        rows={queue.map(({ pool, plan, accounts, queued, running }) => [
          pool,
          plan ?? 'account missing',
          formatNumber(accounts),
          formatNumber(queued),
          formatNumber(running),
        ])}
      />
      <Failures recent={recent} />
      <DataTable
        title="Runners with a capture"
        head={['Pod', 'Screenshot', 'Account', 'Started']}
        empty="No capture runs."
        rows={runners.map(({ pod, screenshot_id, account, started_at }) => [
          <span class="mono">{pod}</span>,
          <span class="mono">{screenshot_id}</span>,
          account,
          started_at === null ? '' : formatAge(started_at, new Date()),
        ])}
      />
    </>
  )
}

type Pool = SystemData['pools'][number]

/** The state in one word. A pool that takes captures can still lack runners. */
function toState({ ready, problem }: Pool): readonly [title: string, badge: string] {
  if (ready === null) return ['Unknown', '']
  if (!ready) return ['Not ready', 'inactive']
  if (problem === null) return ['Ready', 'active']
  return [problem.reason === 'AtMaximum' ? 'Full' : 'Lacks runners', 'pending']
}

function PoolState({ pool }: { pool: Pool }) {
  const [title, badge] = toState(pool)
  const { ready, reason, message, problem } = pool
  const why = ready === false ? { reason, message } : problem
  return (
    <>
      <span class={`badge ${badge}`}>{title}</span>
      {why ? (
        <div class="soft">
          {why.reason}: {why.message}
        </div>
      ) : null}
    </>
  )
}

/** Codes of failed captures, with their share as a bar. */
function Failures({ recent: { completed, failed, failures } }: { recent: SystemData['recent'] }) {
  return (
    <Panel
      title="Recent captures"
      beside={
        <span class="hint">
          {formatNumber(completed)} completed, {formatNumber(failed)} failed
        </span>
      }
    >
      {failures.length === 0 ? <p class="soft">No capture has failed.</p> : null}
      <Bars rows={failures.map(({ code, count }) => ({ name: code, number: count }))} />
    </Panel>
  )
}

export default System
