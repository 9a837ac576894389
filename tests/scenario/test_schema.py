"""Whatever fits the OpenAPI document, and whatever just misses it, is answered as the document says and never with 500."""

import time
from collections import Counter
import pytest
import schemathesis
from schemathesis import Case, GenerationMode
from schemathesis.config import GenerationConfig, ProjectConfig, ProjectsConfig, SchemathesisConfig
from hypothesis import given, settings, HealthCheck

from tests.support.servers import RunningServer


def _document(server, key):
    config = SchemathesisConfig(seed=1, projects=ProjectsConfig(default=ProjectConfig(
        base_url=server.url, headers={"Authorization": f"Bearer {key}"},
        generation=GenerationConfig(max_examples=15, deterministic=True, database="none"))))
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json", config=config)


@pytest.fixture(scope="module")
def as_agent(server: RunningServer):
    return _document(server, server.agent_key)

@pytest.fixture(scope="module")
def as_admin(server: RunningServer):
    return _document(server, server.admin_key)

def test_agent(as_agent, as_admin):
  for doc in (as_agent, as_admin):
    for result in doc.get_all_operations():
        op = result.ok()
        statuses = Counter()
        fails = Counter(); sample = {}
        def check(case):
            try:
                r = case.call(); statuses[r.status_code] += 1
                case.validate_response(r)
            except BaseException as e:
                for x in getattr(e,'exceptions',[e]):
                    fails[type(x).__name__, str(x)[:90]] += 1; sample.setdefault(type(x).__name__, (case.as_curl_command()[:400], str(x)[:500]))
        for mode in GenerationMode.POSITIVE, GenerationMode.NEGATIVE:
            t=time.time()
            @given(case=op.as_strategy(generation_mode=mode))
            @settings(max_examples=15, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
            def run(case): check(case)
            try: run()
            except Exception as e: print('GEN', mode, repr(e)[:200])
            print(op.label, mode, round(time.time()-t,2), statuses)
        t=time.time(); n=0
        for case in doc.iter_coverage_cases(op, generation_modes=list(GenerationMode), generation_config=doc.config.generation):
            check(case); n+=1
        print(op.label, 'coverage', n, round(time.time()-t,2), statuses)
        for k,v in fails.most_common(): print('    ',v,k)
        for k,v in sample.items(): print('       ',k,v)
