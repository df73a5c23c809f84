// Examples of schedules. A test checks them against the schemas.

const createdAt = '2026-11-21T10:00:00.000Z'

export const scheduleId = 'sch_01kajq2v0vtz8m3c5x7r9w4n6p'

const run = {
  id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6z',
  scheduled_at: '2026-11-23T08:00:00.000Z',
  status: 'completed',
  completed_at: '2026-11-23T08:00:04.310Z',
  error_code: null,
  changed: false,
  changed_ratio: 0,
  unfit: null,
}

const schedule = {
  id: scheduleId,
  name: 'home page',
  schedule: '0 9 * * MON-FRI',
  time_zone: 'Europe/Zurich',
  suspend: false,
  concurrency_policy: 'forbid',
  starting_deadline_seconds: 3600,
  spread_seconds: 0,
  comparison: {
    baseline: 'approved',
    threshold: null,
    color_tolerance: 0.1,
    antialiasing: false,
    ignore: [{ selector: '#clock' }],
    accept_status: [],
    approve_first: false,
    baseline_run: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70',
    waiting_run: null,
    fit: true,
    approvals: [
      {
        run_id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70',
        approved_at: '2026-11-22T09:12:00.000Z',
        approved_by: 'key_01kajq2v0vtz8m3c5x7r9w4n6p',
        replaced_run: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x71',
        can_undo: true,
        undone_at: null,
        undone_by: null,
      },
    ],
    last: {
      id: run.id,
      scheduled_at: run.scheduled_at,
      to: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70',
      changed: false,
      changed_ratio: 0,
      changed_pixels: 0,
      size_changed: false,
      text_changed: false,
      words_added: [],
      words_removed: [],
    },
  },
  url: 'https://example.com/',
  options: { full_page: true, format: 'webp' },
  external_identifier: 'home',
  attachment_name: null,
  download_url_ttl: null,
  retention_days: null,
  webhook_url: null,
  webhook_events: null,
  status: 'active',
  problem: null,
  next_run_at: '2026-11-24T08:00:00.000Z',
  last_run_at: '2026-11-23T08:00:00.000Z',
  last_success_at: '2026-11-23T08:00:00.000Z',
  last_change: { id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70', scheduled_at: '2026-11-22T08:00:00.000Z', changed_ratio: 0.0123 },
  active_runs: [],
  recent_runs: [run],
  created_at: createdAt,
  updated_at: createdAt,
}

export const scheduleCreated = {
  message: 'Schedule created successfully',
  data: {
    ...schedule,
    comparison: { ...schedule.comparison, baseline_run: null, waiting_run: null, fit: null, approvals: [], last: null },
    last_run_at: null,
    last_success_at: null,
    last_change: null,
    recent_runs: [],
  },
}
export const scheduleChanged = {
  message: 'Schedule updated successfully',
  data: { ...schedule, suspend: true, status: 'suspended', next_run_at: null },
}
export const scheduleFound = { success: true, data: schedule }
export const scheduleList = { success: true, data: [schedule], pagination: { limit: 100, offset: 0, total: 1, has_more: false } }

export const runCreated = {
  id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x6y',
  url: 'https://example.com/',
  status: 'pending',
  options: { format: 'webp', viewport_width: 1280, viewport_height: 720, full_page: true },
  created_at: '2026-11-23T10:20:30.456Z',
  estimated_time: '10-60s',
}
export const runList = { success: true, data: [run], pagination: { limit: 100, has_more: false, next_cursor: null } }

export const runApproved = { message: 'Run approved. Later runs are compared with its picture.', data: { run_id: run.id } }

export const approvalUndone = {
  message: 'Approval undone. Later runs are compared with the picture from before.',
  data: { run_id: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x70', baseline_run: 'scr_7zxvp3mwk8c0qj2n5r8t1v4x71' },
}
