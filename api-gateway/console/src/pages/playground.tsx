import { useEffect, useState } from 'preact/hooks'
import { api, type Capture, type Collection, collectionOf, isVideo, RequestError, recordPath } from '../api/client.ts'
import { addedTo, type FormInputs, type FormRequest, toCaptureRequest, toInputs, toRequest, withoutAdded } from '../form/fields.ts'
import { OptionForm, OptionsToCorrect, useChecks } from '../form/option-form.tsx'
import { formatMilliseconds } from '../format/text.ts'
import { ComparisonPanel } from '../record/comparison.tsx'
import type { Page } from '../routing/router.ts'
import { SnippetTabs } from '../snippets/snippet-tabs.tsx'
import { Waterfall } from '../ui/bars.tsx'
import { CaptureNotes, ErrorNote, Note, PageStatus, StatusBadge, Warnings } from '../ui/notes.tsx'
import { Picture } from '../ui/picture.tsx'
import { forget, keep, recall, useKept } from '../ui/use-data.ts'

/** Seconds for which one request waits. The queue position is read again after it. */
const WAIT_SECONDS = 3

/** Texts of the button. */
const LABELS: Readonly<Record<Collection, { idle: string; busy: string }>> = {
  screenshots: { idle: 'Capture', busy: 'Capturing…' },
  videos: { idle: 'Record', busy: 'Recording…' },
}

type Progress = { shot?: Capture; position?: number | undefined; error?: unknown; isBusy: boolean }

/** The id of a new capture. The body can also be the file or empty, if the options ask for that. */
const idOf = (headers: Headers): string => headers.get('location')?.split('/').at(-1) ?? ''

/** Where the page keeps which options it added to a capture. */
const addedKey = (id: string): string => `added to ${id}`

async function capture(request: FormRequest, signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<void> {
  const { body, collection } = toCaptureRequest(request)
  const created = await api(`/${collection}`, { method: 'POST', body, signal })
  const id = idOf(created.headers)
  keep(addedKey(id), addedTo(request.body.options))
  const readPosition = (headers: Headers): number | undefined => {
    const text = headers.get('x-queue-position')
    return text === null ? undefined : Number(text)
  }
  onProgress({ position: readPosition(created.headers), isBusy: true })
  while (!signal.aborted) {
    const { data: shot, headers } = await api<Capture>(`${recordPath(collection, id)}?wait=${WAIT_SECONDS}`, { signal })
    const isBusy = shot.status === 'pending'
    onProgress({ shot, position: readPosition(headers), isBusy })
    if (!isBusy) return
  }
}

/** Options of links to this page. */
const LINKED_OPTIONS = ['format', 'compare_to']

const linkedInputs = (query: URLSearchParams): FormInputs =>
  Object.fromEntries([...query].filter(([name]) => LINKED_OPTIONS.includes(name)))

const shotIn = ({ shot }: Progress): Pick<Progress, 'shot'> => (shot ? { shot } : {})

/** What the page keeps while another page is shown. */
interface Draft {
  /** Query of the link that opened the page. */
  query: string
  /** The record of the link has been requested. */
  isRequested?: true
  url: string
  inputs: FormInputs
  hidden: readonly string[]
  progress: Progress
  /** Ends the capture that runs. */
  running?: AbortController
}

const START_URL = 'https://example.com/'
const DRAFT = 'playground'

const startOf = (query: URLSearchParams): Draft => ({
  query: query.toString(),
  url: query.get('url') ?? START_URL,
  inputs: linkedInputs(query),
  hidden: [],
  progress: { isBusy: false },
})

const Playground: Page = ({ session, query }) => {
  // A link to the page begins anew. The menu leads back to what was left.
  const earlier = recall<Draft>(DRAFT)
  if (earlier && query.size > 0 && earlier.query !== query.toString()) {
    earlier.running?.abort()
    forget(DRAFT)
  }
  const [draft, change] = useKept(DRAFT, () => startOf(query))
  const { url, inputs, hidden, progress } = draft
  const set = (part: Partial<Draft>) => change((before) => ({ ...before, ...part }))
  const [isUsed, setUsed] = useState(query.size > 0)
  const request = toRequest(url, inputs, useChecks(isUsed))
  const { body, problems, warnings, collection } = request
  const from = query.get('from')
  const of: Collection = query.get('of') === 'videos' ? 'videos' : 'screenshots'

  // "Capture again" on the page of a record leads here.
  useEffect(() => {
    if (from === null || recall<Draft>(DRAFT)?.isRequested) return
    set({ isRequested: true })
    api<Capture>(recordPath(of, from)).then(
      ({ data }) => {
        const { inputs: given, hidden: lost } = toInputs(withoutAdded(data.options, recall(addedKey(from))))
        set({
          url: data.options.html === undefined && data.options.markdown === undefined ? data.url : '',
          inputs: { ...given, ...linkedInputs(query) },
          hidden: lost,
        })
      },
      (error: unknown) => set({ progress: { error, isBusy: false } }),
    )
  }, [from, of])

  const submit = async (event: Event) => {
    event.preventDefault()
    if (problems.size > 0) return
    draft.running?.abort()
    const running = new AbortController()
    set({ running, progress: { isBusy: true } })
    // It goes on while another page is shown.
    const show = (next: Progress) => running.signal.aborted || set({ progress: next })
    await capture(request, running.signal, show).catch((error: unknown) => {
      // A capture that has begun keeps its link to the record.
      if (!running.signal.aborted) change((before) => ({ ...before, progress: { ...shotIn(before.progress), error, isBusy: false } }))
    })
  }
  const reported = new Map(problems)
  if (progress.error instanceof RequestError) for (const { path, message } of progress.error.problems) reported.set(path, message)
  const urlProblem = reported.get('url')
  return (
    <div class="playground" onFocusIn={() => setUsed(true)}>
      <form class="capture" onSubmit={submit}>
        <label for="url">Page</label>
        <input
          id="url"
          type="text"
          inputMode="url"
          autocomplete="off"
          spellcheck={false}
          placeholder="https://example.com/"
          value={url}
          aria-invalid={urlProblem !== undefined}
          aria-describedby={urlProblem === undefined ? undefined : 'url-problem'}
          onInput={(event) => set({ url: event.currentTarget.value })}
        />
        <button type="submit" class="primary" disabled={progress.isBusy || problems.size > 0}>
          {LABELS[collection][progress.isBusy ? 'busy' : 'idle']}
        </button>
        {urlProblem ? (
          <p id="url-problem" class="problem">
            {urlProblem}
          </p>
        ) : null}
        <OptionsToCorrect names={[...reported.keys()].filter((name) => name !== 'url')} />
      </form>
      {hidden.length > 0 ? (
        <Note kind="warning">Enter these options again, because records do not show them whole: {hidden.join(', ')}.</Note>
      ) : null}
      <Warnings texts={warnings} />
      <div class="columns">
        <OptionForm inputs={inputs} problems={reported} onChange={(next) => set({ inputs: next })} />
        <div class="results">
          <Result progress={progress} baseline={body.options.compare_to} />
          <SnippetTabs body={body} session={session} />
        </div>
      </div>
    </div>
  )
}

/** @param baseline id of the screenshot that the capture will be compared with */
function Result({ progress: { shot, position, error, isBusy }, baseline }: { progress: Progress; baseline: unknown }) {
  const hint =
    baseline === undefined ? 'Enter a URL and capture it. The result appears here.' : `Capture the page to compare it with ${baseline}.`
  return (
    <section class="panel result" aria-labelledby="result-title" aria-busy={isBusy}>
      <div class="panel-head">
        <h2 id="result-title">Result</h2>
        {shot ? <StatusBadge status={shot.status} /> : null}
        {shot ? <PageStatus capture={shot} /> : null}
        {shot?.processing_duration_ms ? <span class="hint">{formatMilliseconds(shot.processing_duration_ms)}</span> : null}
        {shot ? <a href={`#/${collectionOf(shot)}/${shot.id}`}>Record</a> : null}
      </div>
      <div role="status">
        {isBusy ? <p class="busy">{position === undefined ? 'The capture runs.' : `Place ${position} in the queue.`}</p> : null}
      </div>
      <ErrorNote error={error} />
      {shot ? <CaptureNotes shot={shot} /> : null}
      {shot?.status === 'completed' ? <Picture key={shot.id} shot={shot} /> : null}
      {shot && !isVideo(shot) && shot.comparison ? <ComparisonPanel key={shot.id} shot={shot} comparison={shot.comparison} /> : null}
      {shot?.metadata?.timings ? <Waterfall steps={shot.metadata.timings.steps} /> : null}
      {!shot && !isBusy && !error ? <p class="empty">{hint}</p> : null}
    </section>
  )
}

export default Playground
