import inspect
import threading

from fairgat import calm


class JobScheduler:
    def timer(self, fired):
        return threading.Timer(0.3, lambda: fired.append(threading.current_thread()))


def test_the_earliest_and_the_latest_of_the_schedulers_timers_stays():
    fired = []
    timers = [JobScheduler().timer(fired) for _ in range(4)]
    other = threading.Timer(0.3, fired.append, ["another's"])
    for timer in [*timers, other]:
        timer.start()
    calm.cancel_surplus()
    for timer in [*timers, other]:
        timer.join()
    assert set(fired) == {timers[0], timers[-1], "another's"}


def test_snakemakes_timers_are_known_by_their_name():
    from snakemake.scheduling.job_scheduler import JobScheduler as Snakemakes

    source = inspect.getsource(Snakemakes._schedule_reevalutation)
    assert "threading.Timer(" in source and "lambda" in source  # the lambda's qualified name holds the class's
